"""The state of a run when a failure, a time limit or an interrupt ended it, for its trace: blocked ranks, failed ranks.

A deadlock has its own report (`waits.diagnose`), with the same records.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType

from fakempi.core.kernel.loop import Ended
from fakempi.core.reports.deadlock import blocked_lines
from fakempi.errors import DeadlockError
from fakempi.errors.paths import short_path
from fakempi.errors.records import BlockedRank
from fakempi.mpi.base.call_site import is_library, is_ours
from fakempi.mpi.base.process import RunState, Universe
from fakempi.mpi.diagnostics.waits import blocked_ranks
from fakempi.mpi.failures.state import FailureState


class LastState(RunState):
    """The ranks that were blocked when a run failed, as records and as lines of text."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        self.blocked: Sequence[BlockedRank] = ()
        self.lines: list[str] = []


def record_last_state(universe: Universe) -> None:
    """Record where ranks are blocked, before their stacks are unwound, if the run has a trace and has failed."""
    failed = universe.failures or universe.verdict is not None
    if universe.recorder is None or not failed or isinstance(universe.verdict, DeadlockError):
        return
    with suppress(Ended):  # thrown by a time limit: the run ends without this record
        state = universe.state(LastState)
        state.blocked = blocked_ranks(universe)
        unfinished = {task.owner.number for task in universe.loop.tasks.values()}
        unfinished.update(process.number for process, _ in universe.failures)
        failed_lines = [
            f"{process.name}: {type(error).__name__} raised at {place}"
            for process, error in universe.failures
            if (place := raised_at(error.__traceback__))
        ]
        state.lines = failed_lines + blocked_lines(state.blocked, unfinished, universe.names)


def raised_at(traceback: TracebackType | None) -> str:
    """Return the line of the program that raised an exception, or called what raised it; empty if there is none."""
    place = ""
    while traceback is not None:
        frame = traceback.tb_frame
        if not is_ours(frame) and not is_library(frame):
            place = f"{short_path(frame.f_code.co_filename)}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place


def deaths(universe: Universe) -> list[tuple[int, float]]:
    """Return the processes that have died, with their times."""
    return [(number, float(time)) for number, (_, time) in universe.state(FailureState).dead.items()]
