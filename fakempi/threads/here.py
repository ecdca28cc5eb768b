"""Which task calls: the one that runs, if this is the OS thread that it runs in."""

from __future__ import annotations

from typing import Any

from fakempi.mpi.base.current import here
from fakempi.threads.raw import get_ident


def task_here() -> Any:
    """The task that calls; None for the hub, for whoever looks after a run, and for threads outside of runs."""
    loop = here.loop
    if loop is None:
        return None
    task = vars(loop)["running"]  # of a loop that looks who asks, too
    if task is None or task.handle is None:
        return None
    thread = getattr(task.handle, "ident", None) or getattr(loop.carrier, "thread", None)
    return task if thread == get_ident() else None
