"""The end of a rank that has started threads, which is like the end of a Python process.

The rank waits for its threads. There are two exceptions: daemons never run again, and the pools of worker threads are shut
down. When the run ends, these threads end as other waiting tasks do.
"""

from __future__ import annotations

import sys
from typing import Any

from fakempi.core.kernel.loop import Loop
from fakempi.extensions.threads import pools
from fakempi.extensions.threads.unmanaged import has_unmanaged_threads
from fakempi.extensions.threads.waiting import MAX_WAIT, waits_of
from fakempi.mpi.diagnostics.waits import call_lines
from fakempi.mpi.failures.parking import park


def finish(process: Any) -> None:
    """Wait for the threads of a rank, and park its daemons. The main task of the rank calls this function when it ends."""
    pools.close(process.threads)
    while True:
        unfinished = [task for task in process.threads if not task.handle.has_ended and not task.handle.daemon]
        if not unfinished:
            break
        unfinished[0].handle.thread.join()
    daemons = [task for task in process.threads if not task.handle.has_ended]
    lines = call_lines(process.universe, daemons)
    if lines:
        head = "fakempi: a daemon thread ends with its rank, in the middle of a call."
        sys.stderr.write("\n  ".join([head, *lines]) + "\n")
    for task in daemons:
        park(process.universe, task)


def wake_any_task(loop: Loop) -> bool:
    """When no task can run, wake tasks whose lock is free, or wait for unmanaged threads; return whether a task can run."""
    waits = waits_of(loop)
    return waits.wake_after_unseen_release() or waits.await_outside(loop, MAX_WAIT if has_unmanaged_threads() else 0)
