"""Algorithms made of others, one after the other: claims from the claims of the parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TypeAlias

from collectives.algorithm import Algorithm, Case
from collectives.schedule import Schedule, Seconds

Part: TypeAlias = tuple[Algorithm, Case]


def first_misfit(parts: Sequence[Part]) -> str | None:
    """Why the parts cannot serve their cases: the first reason, with the part's name."""
    for algorithm, case in parts:
        if reason := algorithm.fits(case):
            return f"{algorithm.operation} {algorithm.name}: {reason}"
    return None


def chain_schedules(parts: Sequence[Part]) -> Schedule | None:
    """One schedule after the other; a rank begins the next part when it has ended the one before."""
    plans = [algorithm.plan(case) for algorithm, case in parts]
    known = [plan for plan in plans if plan is not None]
    return chain.from_iterable(known) if len(known) == len(plans) else None


def add_scratch(parts: Sequence[Part], rank: int) -> int:
    return sum(algorithm.scratch(case, rank) for algorithm, case in parts)


def add_rounds(parts: Sequence[Part]) -> int | None:
    """Rounds where every message of a part waits for the last of the part before."""
    rounds = [algorithm.rounds(case) for algorithm, case in parts]
    known = [count for count in rounds if count is not None]
    return sum(known) if len(known) == len(rounds) else None


def add_times(parts: Sequence[Part], t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """The time where every message of a part waits for the last of the part before."""
    times = [algorithm.time(case, t_s, t_w) for algorithm, case in parts]
    known = [time for time in times if time is not None]
    return sum(known) if len(known) == len(times) else None


def add_combined(parts: Sequence[Part]) -> int | None:
    """Bytes combined on the longest path where every message of a part waits for the last of the part before."""
    combined = [algorithm.closed_combined(case) for algorithm, case in parts]
    known = [nbytes for nbytes in combined if nbytes is not None]
    return sum(known) if len(known) == len(combined) else None
