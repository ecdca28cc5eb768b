"""Who is running: the process (virtual rank) whose turn it is, as seen from this OS thread.

A run hands its loop to every OS thread it uses; the loop knows the running task, and a task its owner, the process.
Several runs may go on in several OS threads at once, hence the thread-local.

Outside a run there is a world of one, as in a program that was started without mpiexec: one process, whichever thread calls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from fakempi.error_classes import ERR_OTHER
from fakempi.errors import MPIError


class _Here(threading.local):
    loop: Any = None


here = _Here()


class _Outside:
    """What is outside of runs: how many of these go on, and the process of the world of one, once somebody has asked."""

    runs = 0
    process: Any = None
    make: Callable[[], Any]  # the process; handed down by the room `alone`'s door
    lock = threading.Lock()


outside = _Outside()

FOREIGN = "a run goes on, and no rank of it has started this thread: let a rank call MPI, or a thread that it starts."
"""What a thread is told that calls MPI from outside of a run."""


def current_process() -> Any:
    """The running `Process`, or None outside a run."""
    loop = here.loop
    task = None if loop is None else vars(loop)["running"]  # also of a loop that looks who asks
    return None if task is None else task.owner


def running_process() -> Any:
    """The running `Process`; outside a run, that of the world of one."""
    process = current_process()
    return alone() if process is None else process


def alone() -> Any:
    """The process of the world of one. Who might be calling for a rank of a run is refused: its answers would be wrong."""
    if here.loop is not None:
        raise _nobody("a run goes on here, and none of its ranks has its turn.")
    if outside.runs:
        raise _nobody(FOREIGN)
    if outside.process is None:
        with outside.lock:
            outside.process = outside.process or outside.make()
    return outside.process


def _nobody(why: str) -> MPIError:
    return MPIError(ERR_OTHER, f"no rank is running here: {why}")


def current_name() -> str | None:
    """The running process in words (`rank 2`), or None outside a run."""
    process = current_process()
    return None if process is None else process.name


def current_rank() -> int | None:
    """The running process's number, None outside a run; in the world that was started, its rank there."""
    process = current_process()
    return None if process is None else process.number
