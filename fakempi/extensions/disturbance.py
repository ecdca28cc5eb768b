"""Ranks that are late at each of their public calls, or die at one of them.

A call is a call by the program of a method of a communicator, request, message, window or file, on the main task of a rank;
calls that fakempi makes in such a call do not count. They are numbered from 1 on each rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fakempi.core.hooks import OnCall
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.environment import advance_clock
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.failures.kill import die
from fakempi.mpi.failures.state import FailureState
from fakempi.mpi.public_calls import PUBLIC_CALLS

LATE = 1e-3
"""Modeled seconds by which a rank is late: about a thousand times the latency of a message in most cost models."""


class CallsOfRank:
    """The calls of one rank. As a context manager around a call, it lets calls inside that call pass."""

    __slots__ = ("count", "inside")

    def __init__(self) -> None:
        self.count, self.inside = 0, False

    def __enter__(self) -> None:
        self.inside = True

    def __exit__(self, *_: Any) -> None:
        self.inside = False


class Disturbance(OnCall):
    """Delays and deaths at public calls of ranks.

    Attributes
    ----------
    late : rank -> modeled seconds that pass before each of its calls
    deaths : rank -> the number of the call at which it dies
    calls : rank -> its calls so far
    universe : the universe of the run, once a rank has called
    """

    def __init__(self, late: Mapping[int, float] | None = None, deaths: Mapping[int, int] | None = None) -> None:
        self.late, self.deaths = dict(late or {}), dict(deaths or {})
        self.calls: dict[int, CallsOfRank] = {}
        self.universe: Universe | None = None

    def enter(self) -> CallsOfRank | None:
        """Count a call, and let the rank be late or die; None for calls inside other calls, and of background tasks."""
        process = current_process()
        if process is None or process.loop.running is not process.task or not self._is_ours(process):
            return None
        calls = self.calls.setdefault(process.number, CallsOfRank())
        if calls.inside:
            return None
        calls.count += 1
        with calls:
            if process.number in self.late:
                advance_clock(process, self.late[process.number])
            if self.deaths.get(process.number) == calls.count:
                die()
        return calls

    def _is_ours(self, process: Process) -> bool:
        """Return whether a process belongs to the run: the first one that calls."""
        self.universe = self.universe or process.universe
        return process.universe is self.universe

    @property
    def counts(self) -> dict[int, int]:
        """Rank -> the number of its calls."""
        return {rank: calls.count for rank, calls in sorted(self.calls.items())}

    @property
    def dead(self) -> set[int]:
        """The ranks that have died."""
        return set() if self.universe is None else set(self.universe.state(FailureState).dead)


@contextmanager
def disturbed(disturbance: Disturbance) -> Iterator[Disturbance]:
    """Disturb the first run that starts in this context."""
    PUBLIC_CALLS.subscribe(disturbance)
    try:
        yield disturbance
    finally:
        PUBLIC_CALLS.unsubscribe(disturbance)
