"""The end of a run: report a deadlock or leaks, and decide whether leaks make the run fail."""

from __future__ import annotations

from fakempi.errors import Died, RunError
from fakempi.mpi.base.child import ChildTask
from fakempi.mpi.base.process import Universe
from fakempi.mpi.diagnostics.leaks import report_leaks
from fakempi.mpi.diagnostics.waits import diagnose
from fakempi.mpi.failures.state import FailureState


def conclude(universe: Universe) -> RunError | None:
    """Return the error of a run in which no task can run any more; None if it has none.

    If a rank has not ended, the run is deadlocked. Otherwise there may be leaks, for example nonblocking collectives that
    only some ranks started and no rank waits for. If ranks have died and the program has not reacted, their deaths are added
    to `universe.failures`.
    """
    if any(not isinstance(task.body, ChildTask) for task in universe.loop.tasks.values()):
        return diagnose(universe)
    state = universe.state(FailureState)
    if state.dead and not state.handled:
        universe.failures += [(process, Died(time)) for process, time in state.dead.values()]
        return None
    report_leaks(universe)
    for check in universe.leak_checks:
        check()
    findings = universe.ledger.findings()
    if universe.loop.tasks and all(finding.kind != "collective-unfinished" for finding in universe.ledger.all_findings()):
        return diagnose(universe)
    return universe.findings_error() if universe.strict and any(not finding.note for finding in findings) else None
