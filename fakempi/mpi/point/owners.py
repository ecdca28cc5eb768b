"""Protocols: the object that a request belongs to, and a request in calls on several requests."""

from __future__ import annotations

from typing import NoReturn, Protocol

from fakempi.core.kernel.loop import Loop
from fakempi.errors import MPIError
from fakempi.mpi.base.process import Process
from fakempi.mpi.base.status import Status
from fakempi.mpi.interfaces.operations import Operation
from fakempi.mpi.interfaces.records import CallSites
from fakempi.mpi.interfaces.services import RequestChecks


class RequestOwner(Protocol):
    """A communicator, a window or a file, on which an operation was started."""

    @property
    def _loop(self) -> Loop: ...

    @property
    def _process(self) -> Process: ...

    @property
    def _call_sites(self) -> CallSites | None: ...

    @property
    def _request_checks(self) -> RequestChecks | None: ...

    def _raise(self, error: MPIError) -> NoReturn: ...


class Pending(Protocol):
    """A request."""

    @property
    def _comm(self) -> RequestOwner: ...

    @property
    def _operation(self) -> Operation | None: ...

    def _check_owner(self) -> None: ...

    def _has_ended(self) -> bool: ...

    def _outcome(self, status: Status | None) -> tuple[object, MPIError | None]: ...
