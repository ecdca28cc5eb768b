"""Limits on the work of a verification, in proportion to the schedule: a small file may describe huge buffers."""

from __future__ import annotations

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.schedule import Schedule

MAX_WORK, WORK_PER_STEP = 4_000_000, 100
"""Chunks that verification may hold, move and compare: about two seconds, and more in proportion to the steps."""


def check_work(schedule: Schedule, work: int, what: str, advice: str) -> None:
    """Raise InvalidScheduleError if the work of a verification is out of proportion to the schedule."""
    limit = MAX_WORK + WORK_PER_STEP * sum(map(len, schedule.steps))
    if work > limit:
        raise InvalidScheduleError(f"verification needs {work:,} {what}, more than {limit:,}; {advice}")


def check_ranks(schedule: Schedule, operation: str) -> None:
    """Raise InvalidScheduleError if the requirements of an operation are too many: one per pair of ranks, for most."""
    p = schedule.ranks
    work = {"broadcast": p, "gather": p, "reduce": p, "scatter": p**2 // 10, "alltoall": p**3 // 10}.get(operation, p**2)
    check_work(schedule, work, f"comparisons for {operation} on {p:,} ranks", "verify a schedule of fewer ranks")
