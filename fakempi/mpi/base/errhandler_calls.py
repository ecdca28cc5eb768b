"""Error-handler calls, which communicators, windows, files and sessions have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from fakempi.core.hooks import HookedCalls
from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_ERRHANDLER
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.errhandler import ERRORS_ABORT, ERRORS_ARE_FATAL, ERRORS_RETURN, Errhandler
from fakempi.mpi.base.mpi_errors import integer, mpi_error

if TYPE_CHECKING:
    from typing_extensions import Self


class HandlesErrors(HookedCalls):
    """Gives a class the error-handler calls. The class implements the first three methods."""

    __slots__ = ()

    def _check_alive(self) -> None:
        """Raise an error if the object is null."""
        raise NotImplementedError

    def _errhandler(self) -> Errhandler | None:
        """The handler that was set, if any."""
        raise NotImplementedError

    def _keep_errhandler(self, errhandler: Errhandler) -> None:
        """Store a new handler."""
        raise NotImplementedError

    @classmethod
    def Create_errhandler(cls, errhandler_fn: Callable[[Self, int], None]) -> Errhandler:
        """Create an error handler that calls a function with the object and the error code."""
        return Errhandler._of_function(errhandler_fn)

    def Get_errhandler(self) -> Errhandler:
        """Return the error handler; ERRORS_RETURN (raise an exception) unless set."""
        self._check_alive()
        return Errhandler(self._errhandler() or self._default_errhandler() or ERRORS_RETURN)

    def _default_errhandler(self) -> Errhandler | None:
        """The handler of objects without a handler, if the rank has set one (`mpi4py.rc.errors`)."""
        options = running_process().options
        chosen: Errhandler | None = options.get("handler") if options else None
        return chosen

    def Set_errhandler(self, errhandler: Errhandler) -> None:
        """Set the error handler."""
        self._check_alive()
        if not Errhandler(errhandler):
            self._raise(mpi_error(ERR_ERRHANDLER, "the error handler is null: ERRHANDLER_NULL, or freed."))
        self._keep_errhandler(Errhandler(errhandler))

    def Call_errhandler(self, errorcode: int) -> None:
        """Call the error handler with an error code; only ERRORS_ARE_FATAL and ERRORS_ABORT end the run."""
        self._check_alive()
        self._handle_error(MPIError(integer("errorcode", errorcode)))

    def _raise(self, error: MPIError) -> NoReturn:
        """Call the error handler, and raise."""
        self._handle_error(error)
        raise error

    def _handle_error(self, error: MPIError) -> None:
        """Call the error handler; a fatal one ends the run, even if the program catches the exception."""
        handler = self._errhandler() or self._default_errhandler()
        if handler is None or handler == ERRORS_RETURN:
            return
        if handler in (ERRORS_ARE_FATAL, ERRORS_ABORT):
            process = running_process()
            process.universe.fail(process, error)
            raise error
        running_process().called = None  # the handler may make other calls
        handler._call(self, error.Get_error_code())
