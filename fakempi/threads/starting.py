"""What it means in a rank to start a thread: it is a guest of the rank's loop.

`threading` starts threads by functions of C that it has under names of its own. These are changed. What tells of a thread's
end is made by C when the thread is gone, which nobody in the loop would notice; so a guest has a lock for that, or from
Python 3.13 on a handle, that it lets go as its last step with the baton.
"""

from __future__ import annotations

import _thread
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from fakempi.kernel.loop import Ended
from fakempi.mpi.base.current import here
from fakempi.threads import idling, pools, raw
from fakempi.threads.foreign import asks_for_less, is_no_stranger, watch
from fakempi.threads.guests import Guest, start_guest
from fakempi.threads.here import task_here
from fakempi.threads.outside import is_outside
from fakempi.threads.waiting import desk_of

_start_joinable_thread: Any = getattr(_thread, "start_joinable_thread", None)
_set_sentinel: Any = getattr(_thread, "_set_sentinel", None)
before: dict[str, Any] = {}
"""What `Thread.__init__` and `Thread.start` were before the run, which others may have changed, too."""


class Handle:
    """Of a guest's thread, where `threading` asks for one: tells whether it is done, and waits for that."""

    def __init__(self) -> None:
        self.lock = _thread.allocate_lock()
        self.ident: int | None = None

    def is_done(self) -> bool:
        """Whether the thread has ended."""
        return not self.lock.locked()

    def join(self, timeout: float | None = None) -> None:
        """Wait for that, but for so many seconds at most."""
        if self.lock.acquire(True, -1 if timeout is None else timeout):
            self.lock.release()

    def _set_done(self) -> None:
        if self.lock.locked():
            self.lock.release()


def start_new_thread(function: Callable[..., Any], args: Any, kwargs: Any = None, /) -> int:
    """`_thread.start_new_thread`."""
    task = task_here()
    if task is None:
        return raw.start_new_thread(function, args, *(() if kwargs is None else (kwargs,)))
    return _begin(task, lambda: function(*args, **(kwargs or {})), getattr(function, "__self__", None), None)


def start_joinable_thread(function: Callable[[], Any], handle: Any = None, daemon: bool = True) -> Any:
    """`_thread.start_joinable_thread`, from Python 3.13 on."""
    task = task_here()
    if task is None or not (handle is None or isinstance(handle, Handle)):
        return _start_joinable_thread(function, **({} if handle is None else {"handle": handle}), daemon=daemon)
    handle = handle or Handle()
    handle.ident = _begin(task, function, getattr(function, "__self__", None), handle)
    return handle


def set_sentinel() -> Any:
    """`_thread._set_sentinel`, until Python 3.12: a lock that is let go when the thread has ended."""
    task = task_here()
    if task is None or not isinstance(task.handle, Guest):
        return _set_sentinel()
    task.handle.sentinel = _thread.allocate_lock()
    desk_of(task.agenda).sentinels.add(task.handle.sentinel)
    return task.handle.sentinel


def initialize(thread: threading.Thread, *args: Any, daemon: bool | None = None, **kwargs: Any) -> None:
    """`Thread.__init__`: a rank is a main thread, though it may run in one that nobody waits for."""
    if daemon is None:
        task = task_here()
        if task is not None and not isinstance(task.handle, Guest):
            daemon = False
    before["__init__"](thread, *args, daemon=daemon, **kwargs)


def start(thread: threading.Thread) -> None:
    """`Thread.start`."""
    task = task_here()
    if task is not None and is_outside(thread):
        here.loop = None  # for the time being, this is any thread
        try:
            before["start"](thread)
        finally:
            here.loop = task.agenda
        return desk_of(task.agenda).away.append(thread)
    if task is not None and not thread._started.is_set():  # type: ignore[attr-defined]
        pools.follow()
        is_no_stranger(thread)
        thread._invoke_excepthook = _telling(thread._invoke_excepthook)  # type: ignore[attr-defined]
        if hasattr(thread, "_handle"):
            thread._handle = Handle()
    before["start"](thread)


def _begin(task: Any, function: Callable[[], Any], thread: Any, handle: Handle | None) -> int:
    """Start a guest of the same owner."""

    def body() -> None:
        guest, meter, loop = new.handle, new.owner.meter, task.agenda
        if handle is not None:
            handle.lock.acquire()
            desk_of(loop).sentinels.add(handle.lock)
        try:
            if meter is not None:
                meter.start()
            function()
            if meter is not None:
                meter.charge()
        except (Ended, SystemExit):
            pass
        except BaseException:
            if not loop.ending:
                sys.stderr.write(f"{_failed(new)}\n{traceback.format_exc()}")
        finally:
            desk_of(loop).sentinels.discard(guest.sentinel)
            if guest.sentinel is not None and guest.sentinel.locked():
                guest.sentinel.release()

    if task.agenda.ending:  # nobody would ever resume it
        threading._limbo.pop(thread, None)  # type: ignore[attr-defined]
        task.agenda.refuse(task)
    new = start_guest(task.agenda, task.owner, body)
    if handle is not None:
        new.handle.sentinel = handle.lock
    new.handle.thread = thread if isinstance(thread, threading.Thread) else None
    if new.handle.daemon:
        new.rest = partial(_rest, new.rest, new)
    task.owner.threads = [*(one for one in task.owner.threads or () if not one.handle.over), new]
    if asks_for_less(task.owner):
        watch(task.agenda)
    return int(new.handle.ident)


def _rest(rest: Callable[[], Any], task: Any) -> None:
    """What a daemon calls to wait for the baton."""
    rest()
    idling.turn(task)


def _telling(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A thread's hook for exceptions, which is not told that the run is over, and of all else, on which rank it is.

    When the run ends, other errors follow from that: a condition's lock, say, is released that could not be acquired again.
    """

    def invoke(thread: Any) -> Any:
        if isinstance(sys.exc_info()[1], Ended):
            return None
        task = task_here()
        if task is not None and task.agenda.ending:
            return None
        if threading.excepthook is threading.__excepthook__ and task is not None and sys.exc_info()[0] is not SystemExit:
            sys.stderr.write(f"{_failed(task)}\n")
        return hook(thread)

    return invoke


def _failed(task: Any) -> str:
    return f"fakempi: a thread of {task.owner.name} has failed."
