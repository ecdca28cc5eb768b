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
        stray = name_of_starter() is not None
        words = starter_in_words() if stray else "MPI calls need a program started with fakempi.run(...)."
        raise MPIError(ERR_OTHER, f"no rank is running here: {words}")
    return process


def name_of_starter() -> str | None:
    """Who has started this OS thread, or starts one now: the running process, or the one whose thread this is."""
    name: str | None = current_name() or getattr(threading.current_thread(), "_fakempi_starter", None)
    return name


def starter_in_words() -> str:
    """What a thread that is no rank is told when it calls MPI."""
    return (
        f"this is a thread that {name_of_starter() or 'the program'} has started, and only the rank itself may call MPI "
        "(MPI.THREAD_FUNNELED): let the thread hand its results to the rank, and call MPI there."
    )


def current_name() -> str | None:
    """The running process in words (`rank 2`), or None outside a run."""
    process = current_process()
    return None if process is None else process.name


def current_rank() -> int | None:
    """The running process's number, None outside a run; in the world that was started, its rank there."""
    process = current_process()
    return None if process is None else process.number
