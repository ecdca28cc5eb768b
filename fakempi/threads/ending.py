"""The end of a rank that has started threads: as at the end of a Python process.

Threads are waited for, but for daemons, which are left where they stand and never go on; and the workers of pools, which
are told that no more work comes. When the run is over, all end as whoever waits then.
"""

from __future__ import annotations

import sys
from typing import Any

from fakempi.kernel.loop import Loop
from fakempi.mpi.evidence.waits import calls_in_words
from fakempi.mpi.failures.parking import park
from fakempi.threads import pools
from fakempi.threads.foreign import strangers
from fakempi.threads.waiting import PATIENCE, desk_of, waiting


def finish(process: Any) -> None:
    """In the rank's own task, at its end: wait for its threads, and put away those for which nobody waits."""
    pools.close(process.threads)
    while True:
        left = [task for task in process.threads if not task.handle.over and not task.handle.daemon]
        if not left:
            break
        left[0].handle.thread.join()
    daemons = [task for task in process.threads if not task.handle.over]
    lines = calls_in_words(process.universe, daemons)
    if lines:
        head = "fakempi: a daemon thread ends with its rank, in the middle of a call."
        sys.stderr.write("\n  ".join([head, *lines]) + "\n")
    for task in daemons:
        park(process.universe, task)


def helped_from_outside(loop: Loop) -> bool:
    """When nothing can run: whether a thread that no rank has started wakes somebody after all."""
    if not waiting:
        return False
    return desk_of(loop).answer(loop, PATIENCE if strangers() else 0)
