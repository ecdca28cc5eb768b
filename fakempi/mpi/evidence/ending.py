"""A run has come to its end: what is left over, and whether that makes it fail."""

from __future__ import annotations

from fakempi.errors import Died, RunError
from fakempi.mpi.base.child import Child
from fakempi.mpi.base.process import Universe
from fakempi.mpi.evidence.loose import look
from fakempi.mpi.evidence.waits import diagnose


def conclude(universe: Universe) -> RunError | None:
    """Nothing can happen any more: what the run raises, if anything is wrong.

    That is a deadlock if a rank has not ended. If all have, there may be loose ends. Nonblocking collectives that some ranks
    have begun, that nobody waits for and that can never end are among these.
    """
    if any(not isinstance(task.body, Child) for task in universe.loop.tasks.values()):
        return diagnose(universe)
    if universe.dead and not universe.resilient:
        universe.failures += [(process, Died(time)) for process, time in universe.dead.values()]
        return None
    look(universe)
    for window in universe.windows:
        window.tell_leak()
    findings = universe.ledger.findings()
    if universe.loop.tasks and all(one.kind != "collective-unfinished" for one in findings):
        return diagnose(universe)
    return universe.disapproval() if universe.strict and any(not one.note for one in findings) else None
