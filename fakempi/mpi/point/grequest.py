"""Generalized requests: operations of the program's own, which it completes itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.error_classes import ERR_REQUEST
from fakempi.errors import MPITypeError
from fakempi.mpi.base.callbacks import told
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import Completion
from fakempi.mpi.point.request import Request


class Grequest(Request):
    """A request that ends when the program says so."""

    __slots__ = ("_calls",)

    _calls: dict[str, Any]

    def __new__(cls, request: Request | None = None) -> Any:
        self = super().__new__(cls, request)
        if request and not isinstance(request, Grequest):
            raise complaint(ERR_REQUEST, f"expecting a generalized request, not {request!r}.", MPITypeError)
        self._calls = request._calls if isinstance(request, Grequest) else {}
        return self

    @classmethod
    def Start(
        cls,
        query_fn: Callable[..., None] | None = None,
        free_fn: Callable[..., None] | None = None,
        cancel_fn: Callable[..., None] | None = None,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> Grequest:
        """A request; `query_fn(status, *args)` fills the status, `cancel_fn(completed, *args)` is told of Cancel."""
        self: Grequest = cls._of(running_process().comm_world, Completion("a generalized request"))  # type: ignore[assignment]
        self._calls = {
            "query": query_fn, "free": free_fn, "cancel": cancel_fn, "args": args or (), "kwargs": kwargs or {},
        }  # fmt: skip
        return self

    def Complete(self) -> None:
        """The operation has ended."""
        self.complete()

    def complete(self, obj: Any = None) -> None:
        """The operation has ended, with this result for `wait()`."""
        self._check_alive()
        if self._operation.end is not None:
            raise complaint(ERR_REQUEST, "the request has been completed already.")
        self._operation.result = obj
        self._operation.complete(self._comm._loop.now)
        if "freed" in self._calls:
            self._call("free")

    def Cancel(self) -> None:
        """Tell the program's cancel function."""
        self._check_alive()
        self._call("cancel", self._operation.end is not None)

    def Free(self) -> None:
        """Forget the request; the program's free function is told once the operation has ended."""
        operation = self._operation
        super().Free()
        if operation.end is None:
            self._calls["freed"] = True
        else:
            self._call("free")

    def _fill(self, status: Status | None) -> None:
        if self._operation is None:
            super()._fill(status)
            return
        told = Status() if status is None else status
        told._fill(ANY_SOURCE, ANY_TAG, 0)
        self._call("query", told)

    def _retire(self) -> None:
        super()._retire()
        self._call("free")

    def _call(self, which: str, *first: Any) -> None:
        """Call a function of the program's; if it fails, so does the MPI call, with the reason chained."""
        function = self._calls.get(which)
        if function is None:
            return
        try:
            function(*first, *self._calls["args"], **self._calls["kwargs"])
        except Exception as reason:
            raise complaint(*told(f"the {which} function", reason)) from reason
