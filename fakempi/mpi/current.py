"""Who is running: the process (virtual rank) whose turn it is, as seen from this OS thread.

A run hands its loop to every OS thread it uses; the loop knows the running task, and a task its owner, the process.
Several runs may go on in several OS threads at once, hence the thread-local.
"""

from __future__ import annotations

import threading
from typing import Any

from fakempi.error_classes import ERR_OTHER
from fakempi.errors import MPIError


class _Here(threading.local):
    loop: Any = None


here = _Here()


def current_process() -> Any:
    """The running `Process`, or None outside a run."""
    loop = here.loop
    return loop.running.owner if loop is not None and loop.running is not None else None


def running_process() -> Any:
    """The running `Process`; outside a run there is none, which is an error."""
    process = current_process()
    if process is None:
        raise MPIError(ERR_OTHER, "no rank is running here: MPI calls need a program started with fakempi.run(...).")
    return process


def current_name() -> str | None:
    """The running process in words (`rank 2`), or None outside a run."""
    process = current_process()
    return None if process is None else process.name


def current_rank() -> int | None:
    """The running process's number, None outside a run; in the world that was started, its rank there."""
    process = current_process()
    return None if process is None else process.number
