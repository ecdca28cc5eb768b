"""The running process (virtual rank), as seen from this OS thread.

A run sets its loop in every OS thread that it uses. The loop has the running task, and a task has its owner, the process.
Several runs may be in progress in several OS threads, so the loop is a thread-local value.

Outside a run COMM_WORLD is a singleton, as in a program that was started without mpiexec: one process for all threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from fakempi.core.kernel.loop import Loop
from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_OTHER
from fakempi.mpi.base.process import Process, Universe


class _OSThread(threading.local):
    loop: Loop | None = None


os_thread = _OSThread()


class _Outside:
    """State outside runs: the number of runs in progress, and the process of the singleton, created on first use."""

    runs = 0
    process: Process | None = None
    new_singleton: Callable[[], Process]  # set by fakempi/mpi/__init__.py
    lock = threading.Lock()


outside = _Outside()

OUTSIDE_THREAD = "a run is in progress, and none of its ranks started this thread: call MPI from a rank or from its threads."
"""The error of a thread that calls MPI during a run and does not belong to a rank."""


class ActiveRun:
    """In this context the OS thread drives a run. If a rank of another run has started it, each run knows the other."""

    def __init__(self, universe: Universe) -> None:
        self.universe = universe

    def __enter__(self) -> None:
        universe, outer = self.universe, current_process()
        self.outer, self.before = outer, os_thread.loop
        os_thread.loop = universe.loop
        if outer is not None:
            outer.universe.inner, universe.outer = universe, outer.universe

    def __exit__(self, *error: object) -> None:
        os_thread.loop = self.before
        if self.outer is not None:
            self.outer.universe.inner = self.universe.outer = None


def current_process() -> Process | None:
    """The running `Process`, or None outside a run."""
    loop = os_thread.loop
    task = None if loop is None else loop.running
    return None if task is None else task.owner


def running_process() -> Process:
    """The running `Process`; outside a run, that of the singleton."""
    process = current_process()
    return singleton_process() if process is None else process


def singleton_process() -> Process:
    """The process of the singleton. Raises an error if the caller may belong to a run, because results would be wrong."""
    if os_thread.loop is not None:
        raise _no_rank("a run is in progress in this thread, and none of its ranks is running.")
    if outside.runs:
        raise _no_rank(OUTSIDE_THREAD)
    if outside.process is None:
        with outside.lock:
            outside.process = outside.process or outside.new_singleton()
    return outside.process


def _no_rank(why: str) -> MPIError:
    return MPIError(ERR_OTHER, f"no rank is running here: {why}")


def current_name() -> str | None:
    """The name of the running process (`rank 2`), or None outside a run."""
    process = current_process()
    return None if process is None else process.name


def current_rank() -> int | None:
    """The number of the running process, which is its rank unless it was spawned; None outside a run."""
    process = current_process()
    return None if process is None else process.number
