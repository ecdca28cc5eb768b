"""Calls of requests that mpi4py has twice, in lower case too, though no object is in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fakempi.mpi.base.status import Status


class StatusCalls:
    """Each is a call of its own, so that reports say which one the program made."""

    __slots__ = ()

    Get_status: Any
    Get_status_any: Any
    Get_status_all: Any
    Get_status_some: Any

    def get_status(self, status: Status | None = None) -> bool:
        """Like test, but the request stays as it is."""
        return bool(self.Get_status(status))

    @classmethod
    def get_status_any(cls, requests: Sequence[Any], status: Status | None = None) -> tuple[int, bool]:
        """Like testany, but the request stays as it is."""
        found: tuple[int, bool] = cls.Get_status_any(requests, status)
        return found

    @classmethod
    def get_status_all(cls, requests: Sequence[Any], statuses: list[Status] | None = None) -> bool:
        """Like testall, but the requests stay as they are."""
        return bool(cls.Get_status_all(requests, statuses))

    @classmethod
    def get_status_some(cls, requests: Sequence[Any], statuses: list[Status] | None = None) -> list[int] | None:
        """Like testsome, but the requests stay as they are."""
        found: list[int] | None = cls.Get_status_some(requests, statuses)
        return found
