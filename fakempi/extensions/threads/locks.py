"""The replaced methods of `threading.Lock` and `threading.RLock` (changes.py).

A free lock is acquired as usual, unless tasks already wait for it. A task that has to wait for another task of its run waits
in the loop. If the holder is unknown, the task waits in the loop as well, unless the run has unmanaged threads: one of them
may hold the lock, so the task blocks.

An RLock identifies its owner by the OS thread, which ranks on greenlets share. In these methods the owner is the task.
"""

from __future__ import annotations

import gc
import re
from _thread import RLock
from functools import partial
from types import FrameType
from typing import Any

from fakempi.core.kernel.task import Task
from fakempi.extensions.threads import raw
from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.granting import request_grant, steered_loops
from fakempi.extensions.threads.unmanaged import has_unmanaged_threads
from fakempi.extensions.threads.waiting import (
    Hold,
    count_acquired,
    count_unsuccessful,
    held,
    hold_of,
    is_alone,
    is_awaited,
    wait_for,
    wait_outside,
    waits_of,
    wake_one,
)
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.current import os_thread

Lock = type(raw.allocate_lock())
_acquire, _release = raw.acquire, raw.release
_r: Any = RLock
_acquire_r, _release_r, _is_owned_r, _save_r, _restore_r = (
    _r.acquire, _r.release, _r._is_owned, _r._release_save, _r._acquire_restore
)  # fmt: skip


def acquire(lock: Any, blocking: bool = True, timeout: float = -1, *, caller: FrameType | None = None) -> bool:
    """`Lock.acquire`; `caller` is the frame that called the public method, if that was another method."""
    if os_thread.loop is None and not held and not is_awaited(lock):  # an OS thread that belongs to no run
        return _acquire(lock, blocking, timeout)
    caller = caller or frame_at(1)
    if steered_loops and blocking and timeout == -1:
        request_grant(lock, caller, lambda: not lock.locked())
    queued = blocking and is_awaited(lock)  # other tasks have waited longer
    if not queued and _acquire(lock, False):
        return _record_acquired(lock, current_task(), caller)
    task = current_task()
    imports = _imports(caller)
    if task is None or (timeout < 0 and timeout != -1) or (imports and not blocking):
        return _acquire(lock, blocking, timeout)
    if imports:
        return wait_outside(task, partial(_acquire, lock, True), timeout)
    if not blocking:
        count_unsuccessful(task)
        return _acquire(lock, blocking, timeout)
    until = None if timeout == -1 else task.agenda.now + timeout
    while queued or _may_be_released(lock, task):
        queued = False
        rest = None if until is None else until - task.agenda.now
        in_time = wait_for(task, lock, rest, lambda: not lock.locked() and is_alone(task, lock))
        if _acquire(lock, False):
            return _record_acquired(lock, task, caller)
        if not in_time:
            return False
    return wait_outside(task, partial(_acquire, lock, True), timeout)


def _may_be_released(lock: Any, task: Any) -> bool:
    """Return whether a task of the same run holds the lock; if the holder is unknown, whether nothing else can hold it."""
    hold = hold_of(lock)
    if hold is not None:
        return hold.task.agenda is task.agenda
    waits = waits_of(task.agenda)
    return not has_unmanaged_threads(waits.hub) and not waits.has_helpers()


def _imports(caller: FrameType) -> bool:
    """Return whether importlib acquires the lock of a module: no other rank may use the module before it is complete."""
    return caller.f_globals.get("__name__") in ("importlib._bootstrap", "_frozen_importlib")


def _record_acquired(lock: Any, task: Any, caller: FrameType) -> bool:
    if task is not None:
        held[id(lock)] = Hold(lock, task, caller)
        try:
            count_acquired(task)
        except BaseException:  # the run ends: the caller does not get the lock, so it would never be released
            release(lock)
            raise
    elif held:
        held.pop(id(lock), None)
    return True


def release(lock: Any) -> None:
    """`Lock.release`."""
    _release(lock)
    if held:
        held.pop(id(lock), None)
    if is_awaited(lock):
        wake_one(lock, current_task())


def enter(lock: Any) -> bool:
    """`Lock.__enter__`."""
    return acquire(lock, caller=frame_at(1))


def leave(lock: Any, *_: Any) -> None:
    """`Lock.__exit__`."""
    release(lock)


def acquire_r(lock: Any, blocking: bool = True, timeout: float = -1, *, caller: FrameType | None = None) -> bool:
    """`RLock.acquire`."""
    if os_thread.loop is None:
        return bool(_acquire_r(lock, blocking, timeout))
    task, caller = current_task(), caller or frame_at(1)
    if steered_loops and blocking and timeout == -1:
        request_grant(lock, caller, lambda: (hold := hold_of(lock)) is None or hold.task is task)
    if task is None or (timeout < 0 and timeout != -1) or not (blocking or timeout == -1):
        return bool(_acquire_r(lock, blocking, timeout))
    if _imports(caller):
        return wait_outside(task, partial(_acquire_r, lock, True), timeout) if blocking else bool(_acquire_r(lock, False))
    until = None if timeout == -1 else task.agenda.now + timeout
    in_time, hold = True, hold_of(lock)
    queued = hold is None and blocking and is_awaited(lock)  # other tasks have waited longer
    while queued or (hold is not None and hold.task is not task and hold.task.agenda is task.agenda):
        queued = False
        if not blocking:
            count_unsuccessful(task)
        if not (blocking and in_time):
            return False
        rest = None if until is None else until - task.agenda.now
        in_time = wait_for(task, lock, rest, lambda: hold_of(lock) is None and is_alone(task, lock))
        hold = hold_of(lock)
    while not _acquire_r(lock, False):
        if not blocking or not in_time:
            return False
        if not _may_be_released(lock, task):
            if not wait_outside(task, partial(_acquire_r, lock, True), timeout):
                return False
            break
        in_time = wait_for(task, lock, None if until is None else until - task.agenda.now, lambda: False)
    if hold is not None and hold.task is task:
        hold.count += 1
    else:
        held[id(lock)] = Hold(lock, task, caller)
        try:
            count_acquired(task)
        except BaseException:  # as in `_record_acquired`
            release_r(lock)
            raise
    return True


def release_r(lock: Any) -> None:
    """`RLock.release`."""
    task = current_task()
    hold = None if task is None else hold_of(lock)
    if hold is not None and hold.task is not task:
        if _count(lock) <= hold.count and not hold.earlier:
            raise RuntimeError("cannot release un-acquired lock")
        hold = None  # acquired before locks were changed
    _release_r(lock)
    if hold is not None:
        hold.count -= 1
        if not hold.count:
            _released(lock, task)
    elif is_awaited(lock):
        wake_one(lock, task)


def record_acquired_earlier(task: Task) -> None:
    """Record the RLocks that a task holds when the methods are replaced, as tqdm does when it starts its first thread.

    On greenlets, the task is assumed to have acquired all those that the OS thread holds. A Lock has no owner.
    """
    for lock in [one for one in gc.get_objects() if type(one) is RLock]:
        if count := _count(lock):
            hold = held[id(lock)] = Hold(lock, task, None, earlier=True)
            hold.count = count


def _count(lock: Any) -> int:
    """Return how often the OS thread has acquired an RLock, which before Python 3.14 only its text contains."""
    found = re.search(r" count=(\d+) ", repr(lock))
    return int(found[1]) if found and _is_owned_r(lock) else 0


def _released(lock: Any, task: Any) -> None:
    held.pop(id(lock), None)
    if is_awaited(lock):
        wake_one(lock, task)


def enter_r(lock: Any) -> bool:
    """`RLock.__enter__`."""
    return acquire_r(lock, caller=frame_at(1))


def leave_r(lock: Any, *_: Any) -> None:
    """`RLock.__exit__`."""
    release_r(lock)


def is_owned_r(lock: Any) -> bool:
    """`RLock._is_owned`, which conditions call."""
    task = current_task()
    if task is None:
        return bool(_is_owned_r(lock))
    hold = hold_of(lock)
    return bool(_is_owned_r(lock)) and (hold is None or hold.task is task)


class SavedRLock(tuple[Any, ...]):
    """The state of an RLock while a condition has released it: Python's state, and the `held` entry of the lock."""


def save_r(lock: Any) -> Any:
    """`RLock._release_save`, which conditions call: release all acquisitions."""
    task = current_task()
    state, hold = _save_r(lock), hold_of(lock)
    _released(lock, task)
    return state if task is None else SavedRLock((state, hold))  # in other OS threads, the changes may be undone meanwhile


def restore_r(lock: Any, saved: Any) -> None:
    """`RLock._acquire_restore`, which conditions call: restore the number of acquisitions that `save_r` released."""
    state, hold = saved if isinstance(saved, SavedRLock) else (saved, None)  # Python's method may have released the lock
    task = current_task()
    while task is not None and (other := hold_of(lock)) is not None and other.task.agenda is task.agenda:
        wait_for(task, lock, None, lambda: hold_of(lock) is None)
    _restore_r(lock, state)
    if hold is not None:
        held[id(lock)] = hold


METHODS: dict[type, dict[str, Any]] = {
    Lock: {
        "acquire": acquire, "acquire_lock": acquire, "release": release, "release_lock": release, "__enter__": enter,
        "__exit__": leave,
    },
    RLock: {
        "acquire": acquire_r, "release": release_r, "__enter__": enter_r, "__exit__": leave_r, "_is_owned": is_owned_r,
        "_release_save": save_r, "_acquire_restore": restore_r,
    },
}  # fmt: skip
"""Type -> name of a method -> its replacement."""
