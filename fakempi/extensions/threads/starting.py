"""Starting a thread in a rank: the thread becomes a rank thread, a task of the rank's loop.

`threading` starts threads with C functions that it imports under private names; these names are replaced. CPython signals
the end of a thread only after its last Python code, so the thread could no longer wake tasks that join it. A rank thread
therefore has another lock (from Python 3.13 on, a `Handle` with a lock), which it releases as the last step of its task.
"""

from __future__ import annotations

import _thread
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from fakempi.core.interpreter import TESTED, is_tested, this
from fakempi.core.kernel.loop import Ended
from fakempi.errors.classes import ERR_OTHER
from fakempi.errors.tracebacks import shorten
from fakempi.extensions.threads import idle_daemons, pools, raw
from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.pool_threads import owner_here, owners, serves_process_pool
from fakempi.extensions.threads.rank_threads import RankThread, start_rank_thread
from fakempi.extensions.threads.unmanaged import check_callers, managed, requests_less
from fakempi.extensions.threads.waiting import waits_of
from fakempi.mpi.base.current import os_thread
from fakempi.mpi.base.mpi_errors import mpi_error

_start_joinable_thread: Any = getattr(_thread, "start_joinable_thread", None)
_set_sentinel: Any = getattr(_thread, "_set_sentinel", None)
_new_name: Any = getattr(threading, "_newname", None)
_make_hook: Any = getattr(threading, "_make_invoke_excepthook", None)

NEEDS_GIL = (
    "threads of ranks need the global interpreter lock, and this is a free-threaded Python without it: set PYTHON_GIL=1, or "
    "use an ordinary build of Python."
)


class Originals:
    """`Thread.__init__` and `Thread.start` before the run, which other libraries may have replaced, too."""

    initialize: Callable[..., None]
    start: Callable[[threading.Thread], None]


def has_gil() -> bool:
    """Return whether Python runs one thread at a time; a free-threaded build may not."""
    enabled: Callable[[], bool] | None = getattr(sys, "_is_gil_enabled", None)
    return enabled is None or enabled()


def check_threads() -> None:
    """Raise an error if ranks cannot have threads on this Python."""
    if not has_gil():
        raise mpi_error(ERR_OTHER, NEEDS_GIL)
    if not is_tested():
        raise mpi_error(ERR_OTHER, f"threads of ranks need a version of Python that was tested: {TESTED}, not {this()}.")


class Handle:
    """The handle of a rank thread for `threading`, from Python 3.13 on: reports whether the thread has ended, and waits."""

    def __init__(self) -> None:
        self.lock = _thread.allocate_lock()
        self.ident: int | None = None

    def is_done(self) -> bool:
        """Return whether the thread has ended."""
        return not self.lock.locked()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end of the thread, for `timeout` seconds at most."""
        if self.lock.acquire(True, -1 if timeout is None else timeout):
            self.lock.release()

    def _set_done(self) -> None:
        if self.lock.locked():
            self.lock.release()


def start_new_thread(function: Callable[..., Any], args: Any, kwargs: Any = None, /) -> int:
    """`_thread.start_new_thread`."""
    task = current_task()
    if task is None:
        return raw.start_new_thread(function, args, *(() if kwargs is None else (kwargs,)))
    return _begin(task, lambda: function(*args, **(kwargs or {})), getattr(function, "__self__", None), None)


def start_joinable_thread(function: Callable[[], Any], handle: Any = None, daemon: bool = True) -> Any:
    """`_thread.start_joinable_thread`, from Python 3.13 on."""
    task = current_task()
    if task is None or not (handle is None or isinstance(handle, Handle)):
        return _start_joinable_thread(function, **({} if handle is None else {"handle": handle}), daemon=daemon)
    handle = handle or Handle()
    handle.ident = _begin(task, function, getattr(function, "__self__", None), handle)
    return handle


def set_sentinel() -> Any:
    """`_thread._set_sentinel`, until Python 3.12: return a lock that is released when the thread has ended."""
    task = current_task()
    if task is None or not isinstance(task.handle, RankThread):
        return _set_sentinel()
    task.handle.sentinel = _thread.allocate_lock()
    waits_of(task.agenda).sentinels.add(task.handle.sentinel)
    return task.handle.sentinel


def initialize(thread: threading.Thread, *args: Any, daemon: bool | None = None, **kwargs: Any) -> None:
    """`Thread.__init__`: a rank is a main thread, though its OS thread may be a daemon."""
    if daemon is None:
        task = current_task()
        if task is not None and not isinstance(task.handle, RankThread):
            daemon = False
    Originals.initialize(thread, *args, daemon=daemon, **kwargs)


def new_name(template: str) -> str:
    """`threading._newname`: a rank numbers its threads from 1, as a process does, so names are the same in every run."""
    task = current_task()
    if task is None:
        return str(_new_name(template))
    named = waits_of(task.agenda).named
    named[task.owner] = named.get(task.owner, 0) + 1
    return template % named[task.owner]


def start(require: Callable[[Any], None], thread: threading.Thread) -> None:
    """`Thread.start`. `require(task)` replaces the other functions of the standard library, unless this has been done."""
    task = current_task()
    if task is None:
        if (owner := owner_here()) is not None:
            owners[thread] = owner  # the calling thread serves a process pool, and so does the new one
        return Originals.start(thread)
    _check_run(task)  # here, because `threading` would count a thread whose start is interrupted later
    require(task)
    if serves_process_pool(thread):
        os_thread.loop = None  # until the new thread has started, this thread counts as one outside of the run
        owners[thread] = task.owner
        try:
            Originals.start(thread)
        finally:
            os_thread.loop = task.agenda
        return waits_of(task.agenda).helpers.append(thread)
    check_threads()
    if not thread._started.is_set():  # type: ignore[attr-defined]  # private in threading, absent from typeshed
        pools.patch()
        managed.add(thread)
        if hasattr(thread, "_handle"):  # in Python 3.13
            thread._handle = Handle()
        elif hasattr(thread, "_os_thread_handle"):  # from Python 3.14 on
            thread._os_thread_handle = Handle()
    Originals.start(thread)


def _check_run(task: Any) -> None:
    """Raise `Ended` if the run is over: a new thread would never get a turn."""
    if task.agenda.ending:
        task.agenda.raise_ended(task)


def _begin(task: Any, function: Callable[[], Any], thread: Any, handle: Handle | None) -> int:
    """Start a rank thread in the rank of a task; return its identifier."""
    if task.agenda.ending:
        threading._limbo.pop(thread, None)  # type: ignore[attr-defined]  # private in threading, absent from typeshed
    _check_run(task)
    check_threads()

    def body() -> None:
        rank_thread, meter, waits = new.handle, new.owner.meter, waits_of(task.agenda)
        if handle is not None:
            handle.lock.acquire()
            waits.sentinels.add(handle.lock)
        try:
            if meter is not None:
                meter.start()
            function()
            if meter is not None:
                meter.charge()
        except (Ended, SystemExit):
            pass
        except BaseException as error:
            if not task.agenda.ending:
                shorten(error)
                sys.stderr.write(f"{_failed(new)}\n{traceback.format_exc()}")
        finally:
            waits.sentinels.discard(rank_thread.sentinel)
            if rank_thread.sentinel is not None and rank_thread.sentinel.locked():
                rank_thread.sentinel.release()

    new = start_rank_thread(task.agenda, task.owner, body)
    if handle is not None:
        new.handle.sentinel = handle.lock
    new.handle.thread = thread if isinstance(thread, threading.Thread) else None
    if new.handle.daemon:
        new.await_turn = partial(_await_turn_of_daemon, new.await_turn, new)
    task.owner.threads = [*(rank_task for rank_task in task.owner.threads or () if not rank_task.handle.has_ended), new]
    if requests_less(task.owner):
        check_callers(task.agenda)
    return int(new.handle.ident)


def _await_turn_of_daemon(await_turn: Callable[[], Any], task: Any) -> None:
    """Wait for the turn of a daemon, and count it."""
    await_turn()
    idle_daemons.count_turn(task)


def make_invoke_excepthook() -> Callable[[Any], Any]:
    """`threading._make_invoke_excepthook`: the hook ignores `Ended`, and prints the rank before other exceptions.

    When the run ends, it ignores all exceptions. Some follow from the end: a condition releases its lock, for example, which
    it could not acquire again.
    """
    hook = _make_hook()

    def invoke(thread: Any) -> Any:
        if isinstance(sys.exc_info()[1], Ended):
            return None
        task = current_task()
        if task is not None and task.agenda.ending:
            return None
        if (error := sys.exc_info()[1]) is not None:
            shorten(error)
        if threading.excepthook is threading.__excepthook__ and task is not None and sys.exc_info()[0] is not SystemExit:
            sys.stderr.write(f"{_failed(task)}\n")
        return hook(thread)

    return invoke


def _failed(task: Any) -> str:
    return f"fakempi: a thread of {task.owner.name} has failed."
