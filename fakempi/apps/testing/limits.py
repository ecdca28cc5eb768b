"""Time limits of tests, in real time: from the marker, an option, or pytest-timeout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any

import pytest

UNITS = {"s": 1, "m": 60, "h": 3600}  # the units of pytest-isolate-mpi

OUTCOME = pytest.StashKey[Any]()
"""The outcome of a test on its ranks."""

monotonic = getattr(monotonic, "__wrapped__", monotonic)  # the real clock, even if a rank of a script imports this first

TIMER = pytest.StashKey[tuple[Any, float]]()
"""The settings of pytest-timeout for a test and its start time; while ranks run, the seconds used before."""


@dataclass
class Limit:
    """A time limit: seconds, its origin, and when it expires."""

    seconds: float
    origin: str
    end: float

    @property
    def remaining(self) -> float:
        """Seconds left; at least 1 ms, so that a run ends in the regular way."""
        return max(self.end - monotonic(), 0.001)


def _seconds(given: Any, origin: str, unit: str = "s") -> Limit:
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not given > 0 or unit not in UNITS:
        raise pytest.UsageError(f"{origin}: the time limit must be a positive number; units are {', '.join(UNITS)}")
    return Limit(given * UNITS[unit], origin, monotonic() + given * UNITS[unit])


def limit_of(item: pytest.Item, mark: pytest.Mark | None) -> Limit | None:
    """Return the limit of a test that expires first; None if there is none."""
    limits = []
    if mark is not None and mark.kwargs.get("timeout") is not None:
        given = mark.kwargs["timeout"]
        limits.append(_seconds(given, f"@pytest.mark.{mark.name}(timeout={given})", mark.kwargs.get("unit", "s")))
    elif item.config.getoption("--mpi-timeout") is not None:
        given = item.config.getoption("--mpi-timeout")
        limits.append(_seconds(given, f"--mpi-timeout={given:g}"))
    settings, since = item.stash.get(TIMER, (None, 0.0))
    if settings is not None:
        limits.append(Limit(settings.timeout, "pytest-timeout", monotonic() + settings.timeout - since))
    return min(limits, key=lambda limit: limit.end, default=None)


@contextmanager
def in_place_of_pytest_timeout(item: pytest.Item) -> Iterator[None]:
    """Turn pytest-timeout's timer off while ranks run: it would end one rank, or the whole process, without a report.

    The timer is off before modules of fakempi are imported, which may take longer than the test.
    """
    settings, since = item.stash.get(TIMER, (None, 0.0))
    if settings is None:
        yield
        return
    item.ihook.pytest_timeout_cancel_timer(item=item)
    item.stash[TIMER] = (settings, monotonic() - since)
    try:
        yield
    finally:
        item.ihook.pytest_timeout_set_timer(item=item, settings=settings)
