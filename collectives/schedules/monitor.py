"""Monitor: a function that is called during a verification, to show its progress or to end it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from collectives.schedules.errors import VerificationTimeoutError

Monitor = Callable[[str, int, int], object]
"""Receives the name of the current stage, and how much of how much it has done. An exception ends the verification."""


def ignore(stage: str, done: int, total: int) -> None:
    """Do nothing."""


def limited(seconds: float, monitor: Monitor = ignore) -> Monitor:
    """Return a monitor that ends the verification after some seconds by raising VerificationTimeoutError."""
    end = monotonic() + seconds

    def check(stage: str, done: int, total: int) -> None:
        monitor(stage, done, total)
        if monotonic() > end:
            raise VerificationTimeoutError(
                f"not verified: the limit of {seconds:g} s was reached while {stage} were checked ({done:,} of {total:,}); "
                "no fault was found until then"
            )

    return check
