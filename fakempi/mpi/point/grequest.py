"""Generalized requests: user-defined operations, which the program completes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fakempi.errors import MPIError, MPITypeError
from fakempi.errors.classes import ERR_REQUEST
from fakempi.mpi.base.constants import ANY_SOURCE, ANY_TAG
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.mpi_errors import callback_error, mpi_error
from fakempi.mpi.base.status import Status
from fakempi.mpi.base.waiting import Completion
from fakempi.mpi.point.request import Request

if TYPE_CHECKING:
    from typing_extensions import Self


class Callbacks:
    """The program's functions for a generalized request and their arguments, shared by all handles of the request."""

    __slots__ = ("args", "freed", "functions", "kwargs")

    def __init__(
        self, functions: dict[str, Callable[..., None] | None], args: tuple[object, ...], kwargs: dict[str, object]
    ) -> None:
        self.functions, self.args, self.kwargs = functions, args, kwargs
        self.freed = False  # whether the request was freed before it was complete


class Grequest(Request):
    """A request that the program completes by a call of `Complete`."""

    __slots__ = ("_callbacks",)

    _callbacks: Callbacks

    def __new__(cls, request: Request | None = None) -> Self:
        self = super().__new__(cls, request)
        if request and not isinstance(request, Grequest):
            raise mpi_error(ERR_REQUEST, f"expecting a generalized request, not {request!r}.", MPITypeError)
        self._callbacks = request._callbacks if isinstance(request, Grequest) else Callbacks({}, (), {})
        return self

    @classmethod
    def Start(
        cls,
        query_fn: Callable[..., None] | None = None,
        free_fn: Callable[..., None] | None = None,
        cancel_fn: Callable[..., None] | None = None,
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> Self:
        """Start a request. `query_fn(status, *args)` fills the status; Cancel calls `cancel_fn(completed, *args)`."""
        self = cls._of(running_process().comm_world, Completion("a generalized request"))
        functions = {"query": query_fn, "free": free_fn, "cancel": cancel_fn}
        self._callbacks = Callbacks(functions, args or (), kwargs or {})
        return self

    def Complete(self) -> None:
        """Mark the operation as complete."""
        self.complete()

    def complete(self, obj: Any = None) -> None:
        """Mark the operation as complete, with a result for `wait()`."""
        self._check_alive()
        if self._operation.end is not None:
            raise mpi_error(ERR_REQUEST, "the request is already complete.")
        self._operation.result = obj
        self._operation.complete(self._comm._loop.now)
        if (choices := self._comm._process.universe.choices) is not None:
            choices.now_known(self._operation)
        if self._callbacks.freed:
            self._call("free")

    def Cancel(self) -> None:
        """Call the program's cancel function."""
        self._check_alive()
        self._call("cancel", self._operation.end is not None)

    def Free(self) -> None:
        """Free the request; the program's free function is called when the operation is complete."""
        operation = self._operation
        super().Free()
        if operation.end is None:
            self._callbacks.freed = True
        else:
            self._call("free")

    def _fill(self, status: Status | None) -> None:
        if self._operation is None:
            super()._fill(status)
            return
        filled = Status() if status is None else status
        filled._fill(ANY_SOURCE, ANY_TAG, 0)
        self._call("query", filled)

    def _outcome(self, status: Status | None) -> tuple[object, MPIError | None]:
        try:
            return super()._outcome(status)
        except MPIError:  # an error of the query function; the request is freed nevertheless (MPI 4.1, 13.2)
            if self._operation is not None:
                self._retire()
            raise

    def _retire(self) -> None:
        super()._retire()
        self._call("free")

    def _call(self, name: str, *first: object) -> None:
        """Call a function of the program; if it raises an exception, the MPI call fails with that as its cause."""
        function = self._callbacks.functions.get(name)
        if function is None:
            return
        try:
            function(*first, *self._callbacks.args, **self._callbacks.kwargs)
        except Exception as reason:
            raise mpi_error(*callback_error(f"the {name} function", reason)) from reason
