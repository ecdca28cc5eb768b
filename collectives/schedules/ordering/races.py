"""Races: unordered steps of a rank that access the same bytes.

A first pass through the steps of a rank, in time proportional to their number, shows that there are none (`last_accesses`).
Otherwise all pairs of accesses to the same bytes are compared, and messages between ranks may still order them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.faults import Fault
from collectives.schedules.monitor import Monitor, ignore
from collectives.schedules.ordering.causality import StepOrder
from collectives.schedules.ordering.last_accesses import Access, are_ordered, by_buffer
from collectives.schedules.schedule import Schedule
from collectives.schedules.step import Range, Step

MAX_PAIRS, PAIRS_PER_STEP = 300_000, 40
"""Pairs of accesses to the same bytes that are compared: less than a second, and more in proportion to the steps."""

BATCH = 100_000
"""Pairs whose order is looked up at a time: vector clocks of all ranks are computed for each batch that needs them."""


def races(schedule: Schedule, causality: StepOrder, monitor: Monitor = ignore) -> Iterator[Fault]:
    """Yield pairs of unordered steps of a rank that access the same bytes, at least one of them writing."""
    pairs, total = 0, sum(map(len, schedule.steps))
    limit = MAX_PAIRS + PAIRS_PER_STEP * total
    batch: list[tuple[int, Access, Access]] = []
    for rank, steps in enumerate(schedule.steps):
        monitor("races", rank, schedule.ranks)
        accesses, chains = _accesses(steps), causality.chains(rank)
        if chains and are_ordered(accesses, chains, causality.starts(rank)):
            continue
        chain = chains.chain.tolist() if chains else range(len(steps))
        for a, b in _overlapping(accesses):
            pairs += 1
            if pairs > limit:
                yield from _unordered(schedule, causality, batch)
                raise InvalidScheduleError(
                    f"{schedule.place(rank, a[1])}: {steps[a[1]]}: too many steps access the same bytes: verification "
                    f"compares at most {limit:,} pairs; verify the schedule for fewer ranks"
                )
            if chain[a[1]] != chain[b[1]] and (a[2] or b[2]):  # the steps of a chain are ordered
                batch.append((rank, a, b))
        if len(batch) > BATCH:
            yield from _unordered(schedule, causality, batch)
            batch = []
    yield from _unordered(schedule, causality, batch)


def _accesses(steps: Sequence[Step]) -> list[Access]:
    """Return the accesses of a rank's steps to memory."""
    return [
        (where, index, is_write)
        for index, step in enumerate(steps)
        for ranges, is_write in ((step.reads(), False), (step.writes(), True))
        for where in ranges
    ]


def _unordered(schedule: Schedule, causality: StepOrder, batch: Sequence[tuple[int, Access, Access]]) -> Iterator[Fault]:
    """Yield a fault for each pair of steps in the batch that are not ordered. All pairs of a rank are in one batch."""
    ordered = causality.ordered([((rank, a[1]), (rank, b[1])) for rank, a, b in batch])
    reported: set[tuple[int, ...]] = set()
    for (rank, a, b), in_order in zip(batch, ordered, strict=True):
        pair = (rank, *sorted((a[1], b[1])))
        if not in_order and pair not in reported:
            reported.add(pair)
            yield _race(schedule, rank, a, b)


def _race(schedule: Schedule, rank: int, a: Access, b: Access) -> Fault:
    first, second = sorted((a[1], b[1]))
    steps = schedule.steps[rank]
    shared = Range(a[0].buffer, max(a[0].offset, b[0].offset), 0)
    shared = replace(shared, nbytes=min(a[0].stop, b[0].stop) - shared.offset)
    text = (
        f"{schedule.place(rank, second)}: {steps[second]}: is not ordered with "
        f"{schedule.place(rank, first)} ({steps[first]}), and both access {shared}"
    )
    return Fault("race", rank, second, str(shared), text)


def _overlapping(accesses: list[Access]) -> Iterator[tuple[Access, Access]]:
    """Yield pairs of accesses that share bytes, found by sorting by the start of the range."""
    for group in by_buffer(accesses):
        active: list[tuple[int, Access]] = []  # with the ends of their ranges
        for access in sorted(group, key=lambda entry: entry[0].offset):
            start = access[0].offset
            active = [entry for entry in active if entry[0] > start]
            for _, other in active:
                yield other, access
            active.append((access[0].stop, access))
