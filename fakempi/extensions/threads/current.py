"""The task that calls: the running task of this OS thread's run, if the task runs in this OS thread."""

from __future__ import annotations

from typing import Any

from fakempi.extensions.threads.raw import get_ident
from fakempi.mpi.base.current import os_thread


def current_task() -> Any:
    """Return the calling task; None in the hub, in threads that run no task, and in the thread of a task that has ended.

    The OS thread of an ended task acts for its backend: it joins the thread before it, and wakes the next one.
    """
    loop = os_thread.loop
    if loop is None:
        return None
    task = loop.running
    if task is None or task.handle is None or task.number not in loop.tasks:
        return None
    thread = getattr(task.handle, "ident", None) or getattr(loop.backend, "thread", None)
    return task if thread == get_ident() else None
