"""What happens on errors of an object: the four calls that communicators, windows, files and sessions have, in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from fakempi.error_classes import ERR_ERRHANDLER
from fakempi.errors import MPIError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.errhandler import ERRORS_ABORT, ERRORS_ARE_FATAL, ERRORS_RETURN, Errhandler


class HandlesErrors:
    """The class says whether the object is there, which handler it has, and where a new one is kept."""

    __slots__ = ()

    def _check_alive(self) -> None:
        """Complain if the object is null."""
        raise NotImplementedError

    def _errhandler(self) -> Errhandler | None:
        """The handler that was set, if any."""
        raise NotImplementedError

    def _keep_errhandler(self, errhandler: Errhandler) -> None:
        """Have another handler."""
        raise NotImplementedError

    @classmethod
    def Create_errhandler(cls, errhandler_fn: Callable[[Any, int], None]) -> Errhandler:
        """An error handler that calls a function with the object and the error code."""
        return Errhandler._calling(errhandler_fn)

    def Get_errhandler(self) -> Errhandler:
        """What happens on errors; ERRORS_RETURN (raise an exception) unless set."""
        self._check_alive()
        return Errhandler(self._errhandler() or ERRORS_RETURN)

    def Set_errhandler(self, errhandler: Errhandler) -> None:
        """Say what happens on errors."""
        self._check_alive()
        if not Errhandler(errhandler):
            self._raise(complaint(ERR_ERRHANDLER, "the error handler is null: ERRHANDLER_NULL, or freed."))
        self._keep_errhandler(Errhandler(errhandler))

    def Call_errhandler(self, errorcode: int) -> None:
        """Have an error happen; only ERRORS_ARE_FATAL makes it end anything."""
        self._check_alive()
        self._handle_error(MPIError(errorcode))

    def _raise(self, error: MPIError) -> NoReturn:
        """Do what the error handler says, and raise."""
        self._handle_error(error)
        raise error

    def _handle_error(self, error: MPIError) -> None:
        """Call the error handler; a fatal one ends the run, whatever the program catches."""
        handler = self._errhandler()
        if handler is None or handler == ERRORS_RETURN:
            return
        if handler in (ERRORS_ARE_FATAL, ERRORS_ABORT):
            process = running_process()
            process.universe.fail(process, error)
            raise error
        handler._call(self, error.Get_error_code())
