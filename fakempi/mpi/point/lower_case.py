"""Calls of requests that mpi4py has in both cases although they pass no object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fakempi.core.hooks import HookedCalls
from fakempi.mpi.base.status import Status

if TYPE_CHECKING:
    from fakempi.mpi.point.request import Request


class StatusCalls(HookedCalls):
    """Each name is a separate method, so that reports name the call that the program made."""

    __slots__ = ()

    def Get_status(self, status: Status | None = None) -> bool:
        """Like Test, but do not change the request."""
        raise NotImplementedError

    @classmethod
    def Get_status_any(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool]:
        """Like Testany, but do not change the request."""
        raise NotImplementedError

    @classmethod
    def Get_status_all(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Like Testall, but do not change the requests."""
        raise NotImplementedError

    @classmethod
    def Get_status_some(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Like Testsome, but do not change the requests."""
        raise NotImplementedError

    def Free(self) -> None:
        """Free the request; its operation continues."""
        raise NotImplementedError

    def Cancel(self) -> None:
        """Cancel an operation that has not been matched."""
        raise NotImplementedError

    def free(self) -> None:
        """Like Free, but a null request is ignored."""
        if self:
            self.Free()

    def cancel(self) -> None:
        """The same as Cancel."""
        self.Cancel()

    def get_status(self, status: Status | None = None) -> bool:
        """Like test, but do not change the request."""
        return self.Get_status(status)

    @classmethod
    def get_status_any(cls, requests: Sequence[Request], status: Status | None = None) -> tuple[int, bool]:
        """Like testany, but do not change the request."""
        return cls.Get_status_any(requests, status)

    @classmethod
    def get_status_all(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> bool:
        """Like testall, but do not change the requests."""
        return cls.Get_status_all(requests, statuses)

    @classmethod
    def get_status_some(cls, requests: Sequence[Request], statuses: list[Status] | None = None) -> list[int] | None:
        """Like testsome, but do not change the requests."""
        return cls.Get_status_some(requests, statuses)
