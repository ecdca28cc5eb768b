"""Races: unordered steps of a rank that access the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from collectives.schedules.causality import StepOrder
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.faults import Fault
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import UNKNOWN, Range

MAX_PAIRS, PAIRS_PER_STEP = 300_000, 40
"""Pairs of accesses to the same bytes that are compared: less than a second, and more in proportion to the steps."""


def races(schedule: Schedule, causality: StepOrder) -> Iterator[Fault]:
    """Yield pairs of unordered steps of a rank that access the same bytes, at least one of them writing."""
    pairs = 0
    limit = MAX_PAIRS + PAIRS_PER_STEP * sum(map(len, schedule.steps))
    for rank, steps in enumerate(schedule.steps):
        accesses = [
            (where, index, is_write)
            for index, step in enumerate(steps)
            for ranges, is_write in ((step.reads(), False), (step.writes(), True))
            for where in ranges
        ]
        reported, chains = set(), causality.chains(rank)
        for a, b in _overlapping(accesses):
            pairs += 1
            if pairs > limit:
                raise InvalidScheduleError(
                    f"{schedule.place(rank, a[1])}: {steps[a[1]]}: too many steps access the same bytes: verification "
                    f"compares at most {limit:,} pairs; verify the schedule for fewer ranks"
                )
            if chains[a[1]] == chains[b[1]] or not (a[2] or b[2]) or causality.ordered((rank, a[1]), (rank, b[1])):
                continue
            pair = tuple(sorted((a[1], b[1])))
            if pair not in reported:
                reported.add(pair)
                shared = Range(a[0].buffer, max(a[0].offset, b[0].offset), 0)
                shared = replace(shared, nbytes=min(a[0].stop, b[0].stop) - shared.offset)
                text = (
                    f"{schedule.place(rank, pair[1])}: {steps[pair[1]]}: is not ordered with "
                    f"{schedule.place(rank, pair[0])} ({steps[pair[0]]}), and both access {shared}"
                )
                yield Fault("race", rank, pair[1], str(shared), text)


Access = tuple[Range, int, bool]


def _overlapping(accesses: list[Access]) -> Iterator[tuple[Access, Access]]:
    """Yield pairs of accesses that share bytes, found by sorting by the start of the range."""
    by_buffer: dict[str, list[Access]] = {}
    for access in accesses:
        if access[0].buffer != UNKNOWN:
            by_buffer.setdefault(access[0].buffer, []).append(access)
    for group in by_buffer.values():
        active: list[tuple[int, Access]] = []  # with the ends of their ranges
        for access in sorted(group, key=lambda entry: entry[0].offset):
            start = access[0].offset
            active = [entry for entry in active if entry[0] > start]
            for _, other in active:
                yield other, access
            active.append((access[0].stop, access))
