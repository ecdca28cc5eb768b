"""How long a test may take in real time: as its marker says, an option, or pytest-timeout."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any

import pytest

UNITS = {"s": 1, "m": 60, "h": 3600}  # as pytest-isolate-mpi has them

OUTCOME = pytest.StashKey[Any]()
"""How a test went on its ranks."""

monotonic = getattr(monotonic, "__wrapped__", monotonic)  # the real one, though a rank of a script import this first

TIMER = pytest.StashKey[tuple[Any, float]]()
"""What pytest-timeout was about to do for a test, and since when; while ranks run, how many seconds it had used before."""


@dataclass
class Limit:
    """How many seconds, who says so, and when they are over."""

    seconds: float
    who: str
    end: float

    @property
    def left(self) -> float:
        """Seconds that are left; a moment if none are, for a run ends in good order."""
        return max(self.end - monotonic(), 0.001)


def _seconds(given: Any, who: str, unit: str = "s") -> Limit:
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not given > 0 or unit not in UNITS:
        raise pytest.UsageError(f"{who}: a positive number of seconds, and for a unit one of {', '.join(UNITS)}")
    return Limit(given * UNITS[unit], who, monotonic() + given * UNITS[unit])


def limit_of(item: pytest.Item, mark: pytest.Mark | None) -> Limit | None:
    """The limit of a test on ranks; the one that is over first. None if there is none."""
    found = []
    if mark is not None and mark.kwargs.get("timeout") is not None:
        given = mark.kwargs["timeout"]
        found.append(_seconds(given, f"@pytest.mark.{mark.name}(timeout={given})", mark.kwargs.get("unit", "s")))
    elif item.config.getoption("--mpi-timeout") is not None:
        given = item.config.getoption("--mpi-timeout")
        found.append(_seconds(given, f"--mpi-timeout={given:g}"))
    settings, since = item.stash.get(TIMER, (None, 0.0))
    if settings is not None:
        found.append(Limit(settings.timeout, "pytest-timeout", monotonic() + settings.timeout - since))
    return min(found, key=lambda limit: limit.end, default=None)


@contextmanager
def in_place_of_pytest_timeout(item: pytest.Item) -> Iterator[None]:
    """While ranks run, its timer is off: it would end one rank, or the whole process, and tell of no other.

    Off before anything of ours is imported, which may take longer than the test.
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
