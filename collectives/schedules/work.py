"""Limits on the work of a verification, in proportion to the schedule: a small file may describe huge buffers."""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case, UnsupportedCaseError
from collectives.catalogue.message_count import messages_above
from collectives.schedules.errors import InvalidScheduleError
from collectives.schedules.schedule import Schedule

MAX_WORK, WORK_PER_STEP = 4_000_000, 100
"""Intervals that verification may move and compare: about four seconds, and more in proportion to the steps."""

MAX_ENTRIES = 1 << 25
"""Upper limit of the entries of vector clocks that are in memory at a time: 128 MiB."""

MAX_IDLE = 16_384
"""Ranks without steps that can be run: more of them take seconds."""


class Work:
    """Counts work of a verification, which must not be out of proportion to the schedule."""

    def __init__(self, schedule: Schedule, what: str, advice: str) -> None:
        self.done, self._limit = 0, MAX_WORK + WORK_PER_STEP * sum(map(len, schedule.steps))
        self._what, self._advice = what, advice

    def add(self, work: int) -> None:
        """Add to the work; raise InvalidScheduleError if it is too much."""
        self.done += work
        if self.done > self._limit:
            raise InvalidScheduleError(
                f"verification needs {self.done:,} {self._what}, more than {self._limit:,}; {self._advice}"
            )


SECONDS_PER_STEP, BYTES_PER_STEP = 45e-6, 800
"""Of a verification: measured with ring, linear and Bruck algorithms on 64 and 256 ranks (32 to 50 µs, 700 to 750 bytes).

A run of a schedule needs 750 to 860 bytes per step."""


MEMORY, BYTES_PER_RECORDED_STEP = 7 << 30, 330
"""The most memory for steps: those of a recorded schedule, and with `BYTES_PER_STEP` those that are run or verified."""


def check_recording(algorithm: Algorithm, case: Case) -> None:
    """Raise UnsupportedCaseError if the steps of a recorded schedule would need too much memory."""
    most = MEMORY // BYTES_PER_RECORDED_STEP // 2  # a send and a receive for each message
    if count := messages_above(algorithm, case, most):
        raise UnsupportedCaseError(
            f"{algorithm!r} cannot be recorded: it has at least {count:,} messages, more than {most:,}; use fewer ranks or "
            "another algorithm"
        )


def check_steps(schedule: Schedule) -> None:
    """Raise InvalidScheduleError if a run or a verification would need too much memory."""
    steps = sum(map(len, schedule.steps))
    if steps * BYTES_PER_STEP > MEMORY:
        raise InvalidScheduleError(
            f"{steps:,} steps need about {steps * BYTES_PER_STEP >> 30} GiB of memory, more than {MEMORY >> 30} GiB; use a "
            "schedule with fewer ranks or fewer messages"
        )


def estimate(schedule: Schedule) -> tuple[float, int]:
    """Return about how many seconds a verification takes, and how many bytes at most.

    Schedules whose order depends on messages between other ranks take longer: they need the vector clocks of all ranks.
    """
    steps = sum(map(len, schedule.steps))
    clocks = sum(4 * len(program) ** 2 for program in schedule.steps)
    return steps * SECONDS_PER_STEP, steps * BYTES_PER_STEP + min(clocks, 4 * MAX_ENTRIES)


def check_run(schedule: Schedule) -> None:
    """Raise InvalidScheduleError if a run would take long for few steps: idle ranks, or many messages at a time on a rank.

    Each message is waited for among all that are pending. Messages that follow each other are not pending at a time.
    """
    check_steps(schedule)
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
    Work(schedule, f"comparisons for {operation} on {p:,} ranks", "verify a schedule of fewer ranks").add(work)
