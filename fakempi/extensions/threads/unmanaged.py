"""Threads that no rank has started, and greenlets of the program: neither may call MPI, and both are rejected.

Comparing the calling OS thread in every MPI call would add 2 % to the time of a message in a ring (two comparisons of 0.06
microseconds to 6 microseconds). So calls are checked only in runs that need it: another OS thread exists when the run
begins, a rank has switched to a greenlet that it created, or a rank with threads has requested less than
`MPI.THREAD_MULTIPLE`. Then a `CallerCheck` subscribes to the loop and sets the `acts_for` of all tasks to None. MPI calls
compare that attribute in any case, to detect handles of other ranks, and call `Loop.check_caller` if it does not match.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

from fakempi.core.hooks import Layer
from fakempi.core.kernel.agenda import Time
from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.errors.classes import ERR_OTHER
from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.rank_threads import RankThread
from fakempi.extensions.threads.raw import get_ident
from fakempi.mpi.base.constants import THREAD_FUNNELED, THREAD_MULTIPLE, THREAD_SERIALIZED, THREAD_SINGLE
from fakempi.mpi.base.current import OUTSIDE_THREAD, os_thread, outside
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.diagnostics.waits import is_in_mpi_call

LEVELS = {THREAD_SINGLE: "MPI.THREAD_SINGLE", THREAD_FUNNELED: "MPI.THREAD_FUNNELED"}
"""The levels at which only the rank itself may call MPI."""


class CallerCheck:
    """Rejects calls by OS threads and greenlets that are not the running task, before they have changed anything."""

    layer = Layer.CALLER

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        for task in loop.tasks.values():
            task.acts_for = None
        loop.subscribe(self)

    def spawn(self, proceed: Callable[..., Task], *args: Any, **kwargs: Any) -> Task:
        """Start a task whose MPI calls are checked."""
        task = proceed(*args, **kwargs)
        task.acts_for = None
        return task

    def check_caller(self, proceed: Callable[[Task], None], task: Task) -> None:
        """Check the caller of an MPI call in the name of the running task."""
        _check_task(task)
        if task.owner.threads and requests_less(task.owner):
            _check_level(task)
        proceed(task)

    def wait(self, proceed: Callable[[], None]) -> None:
        """Check the caller of `wait`: some calls reach the loop without `check_caller`."""
        self._check_running()
        proceed()

    def poll(self, proceed: Callable[[], None]) -> None:
        """Check the caller of `poll`."""
        self._check_running()
        proceed()

    def defer(self, proceed: Callable[[Time], bool], at: Time) -> bool:
        """Check the caller of `defer`."""
        self._check_running()
        return proceed(at)

    def _check_running(self) -> None:
        task = self.loop.running
        if task is not None:
            _check_task(task)


def _check_task(task: Task) -> None:
    """Reject the call if this OS thread belongs to no run, or if this greenlet is not the task's."""
    if os_thread.loop is None:
        raise mpi_error(ERR_OTHER, OUTSIDE_THREAD)
    greenlet: Any = sys.modules.get("greenlet")
    if greenlet is None or hasattr(task.handle, "ident") or task is not current_task():
        return
    if greenlet.getcurrent() is not task.handle:
        raise mpi_error(
            ERR_OTHER,
            f"this is a greenlet that {task.owner.name} has started. Ranks are greenlets themselves here, and only the "
            "rank's own may call MPI: run(..., backend='threads'), or let the rank start threads.",
        )


def _check_level(task: Task) -> None:
    """Reject the call if the rank has requested a level of thread support that does not permit it."""
    process = task.owner
    level = process.thread_level
    if level in LEVELS and isinstance(task.handle, RankThread):
        raise mpi_error(
            ERR_OTHER,
            f"this is a thread that {process.name} has started, and that rank has requested {LEVELS[level]}: only the rank "
            "itself may call MPI.",
        )
    if level == THREAD_SERIALIZED and any(is_in_mpi_call(other) for other in _other_tasks(task)):
        raise mpi_error(
            ERR_OTHER,
            f"another thread of {process.name} is in an MPI call, and that rank has requested MPI.THREAD_SERIALIZED: one "
            "at a time may call MPI.",
        )


def _other_tasks(task: Task) -> list[Any]:
    process = task.owner
    return [other for other in (process.task, *process.threads) if other is not task]


def check_callers(loop: Loop) -> None:
    """Check the callers of MPI calls from now on."""
    if not loop.has_layer(Layer.CALLER):
        CallerCheck(loop)


def has_unmanaged_threads(hub: int | None = None) -> bool:
    """Return whether there are OS threads that belong to no run, other than this one and the one that has called `run`.

    The timer of pytest-timeout does not count: it only ends the process, and it exists while any test runs.
    """
    known = {get_ident()} if hub is None else {get_ident(), hub}
    return outside.runs > 1 or any(
        thread.ident not in known and not thread.name.startswith(("task ", "pytest_timeout ")) and thread not in managed
        for thread in list(threading._active.values())  # type: ignore[attr-defined]  # private in threading, absent from typeshed
    )


managed: WeakSet[threading.Thread] = WeakSet()
"""Threads of ranks, and threads of fakempi that make no MPI calls."""


def requests_less(process: Any) -> bool:
    """Return whether a rank has requested less than `MPI.THREAD_MULTIPLE`."""
    return process.thread_level is not None and process.thread_level < THREAD_MULTIPLE
