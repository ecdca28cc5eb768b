"""Limits on the work of a verification, in proportion to the schedule: a small file may describe huge buffers."""

from __future__ import annotations

from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.schedule import Schedule

MAX_WORK, WORK_PER_STEP = 4_000_000, 100
"""Chunks that verification may hold, move and compare: about two seconds, and more in proportion to the steps."""

MAX_IDLE = 16_384
"""Ranks without steps that can be run: more of them take seconds."""


def check_work(schedule: Schedule, work: int, what: str, advice: str) -> None:
    """Raise InvalidScheduleError if the work of a verification is out of proportion to the schedule."""
    limit = MAX_WORK + WORK_PER_STEP * sum(map(len, schedule.steps))
    if work > limit:
        raise InvalidScheduleError(f"verification needs {work:,} {what}, more than {limit:,}; {advice}")


def check_run(schedule: Schedule) -> None:
    """Raise InvalidScheduleError if a run would take long for few steps: idle ranks, or many messages at a time on a rank.

    Each message is waited for among all that are pending. Messages that follow each other are not pending at a time.
    """
    steps = sum(map(len, schedule.steps))
    if schedule.ranks > MAX_IDLE + steps:
        raise InvalidScheduleError(f"{schedule.ranks:,} ranks have {steps:,} steps: too many ranks to run")
    pending = 0
    for program in schedule.steps:
        messages = {index for index, step in enumerate(program) if step.kind in ("send", "recv")}
        followed = {other for index in messages for other in program[index].after} & messages
        pending += len(messages) * (len(messages) - len(followed))
    if pending > (limit := MAX_WORK + 1000 * steps):
        raise InvalidScheduleError(
            f"a run would wait {pending:,} times for one of several messages, more than {limit:,}; add dependencies, or use "
            "fewer messages per rank"
        )


def check_ranks(schedule: Schedule, operation: str) -> None:
    """Raise InvalidScheduleError if the requirements of an operation are too many: one per pair of ranks, for most."""
    p = schedule.ranks
    work = {"broadcast": p, "gather": p, "reduce": p, "scatter": p**2 // 10, "alltoall": p**3 // 10}.get(operation, p**2)
    check_work(schedule, work, f"comparisons for {operation} on {p:,} ranks", "verify a schedule of fewer ranks")
