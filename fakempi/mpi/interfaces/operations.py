"""Operations that a rank waits for."""

from __future__ import annotations

from typing import Protocol

from fakempi.core.kernel.agenda import Time
from fakempi.mpi.interfaces.records import CallSite


class Waiter(Protocol):
    """An object that is notified when the end of an operation becomes known."""

    def settled(self, end: Time) -> None:
        """Record that the operation ends at `end`."""


class Operation(Protocol):
    """An envelope, a receive, a completion, or several of these as one.

    `end` is None until the end is known. Then `waiter`, if there is one, is notified.
    """

    end: Time | None
    waiter: Waiter | None
    call_site: CallSite  # where the program began it, if there is a request
