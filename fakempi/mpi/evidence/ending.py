"""A run has come to its end: what is left over, and whether that makes it fail."""

from __future__ import annotations

from fakempi.errors import Died, FindingsError
from fakempi.mpi.base.process import Universe


def conclude(universe: Universe) -> FindingsError | None:
    """All ranks have ended well: look for loose ends; what a strict run raises if anything is wrong."""
    if universe.dead and not universe.resilient:
        universe.failures += [(process, Died(time)) for process, time in universe.dead.values()]
        return None
    for window in universe.windows:
        window.tell_leak()
    wrong = universe.strict and any(not one.note for one in universe.ledger.findings())
    return universe.disapproval() if wrong else None
