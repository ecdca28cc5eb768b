"""Generalized requests: operations of the program's own, which it completes itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.mpi.current import running_process
from fakempi.mpi.request import Request
from fakempi.mpi.status import Status
from fakempi.mpi.waiting import Completion


class Grequest(Request):
    """A request that ends when the program says so."""

    __slots__ = ("_calls",)

    _calls: dict[str, Any]

    def __new__(cls, request: Request | None = None) -> Any:
        self = super().__new__(cls, request)
        self._calls = getattr(request, "_calls", {})
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
        self._check_active()
        if self._operation is not None and self._operation.end is None:
            self._operation.result = obj
            self._operation.complete(self._comm._loop.now)

    def Cancel(self) -> None:
        """Tell the program's cancel function."""
        self._check_active()
        completed = self._operation is None or self._operation.end is not None
        self._call("cancel", completed)

    cancel = Cancel

    def _fill(self, status: Status | None) -> None:
        if self._operation is not None:
            self._call("query", Status() if status is None else status)

    def _retire(self) -> None:
        super()._retire()
        self._call("free")

    def _call(self, which: str, *first: Any) -> None:
        function = self._calls.get(which)
        if function is not None:
            function(*first, *self._calls["args"], **self._calls["kwargs"])
