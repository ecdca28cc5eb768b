"""What the methods of `threading.Lock` and `threading.RLock` do while runs go on.

A lock that is free is taken as ever, unless somebody waits for it who came before. Who has to wait for another task of the
same run waits in the loop. All others wait as ever, for a thread outside the run may release the lock at any time.

Ranks on greenlets share an OS thread, by which an RLock tells its owner. Here it is told by the task.
"""

from __future__ import annotations

import sys
from _thread import RLock
from functools import partial
from typing import Any

from fakempi.threads import raw
from fakempi.threads.granting import ask_for, steered
from fakempi.threads.here import task_here
from fakempi.threads.waiting import Hold, count_on, held, hold_of, look_again, wait_for, wait_outside, waiting, wake_one

Lock = type(raw.allocate_lock())
_acquire, _release = raw.acquire, raw.release
_r: Any = RLock
_acquire_r, _release_r, _is_owned_r, _save_r, _restore_r = (
    _r.acquire, _r.release, _r._is_owned, _r._release_save, _r._acquire_restore
)  # fmt: skip


def acquire(lock: Any, blocking: bool = True, timeout: float = -1, *, depth: int = 1) -> bool:
    """`Lock.acquire`. The program's frame is so many calls up, or further."""
    if steered and blocking and timeout == -1:
        ask_for(lock, sys._getframe(depth), lambda: not lock.locked())
    queued = bool(waiting) and blocking and id(lock) in waiting  # others came first
    if not queued and _acquire(lock, False):
        return _taken(lock, task_here(), depth + 1)
    task = task_here()
    imports = _imports(depth + 1)
    if task is None or (timeout < 0 and timeout != -1) or (imports and not blocking):
        return _acquire(lock, blocking, timeout)
    if imports:
        return wait_outside(task, partial(_acquire, lock, True), timeout)
    if not blocking:
        look_again(task)
        return _acquire(lock, blocking, timeout)
    until = None if timeout == -1 else task.agenda.now + timeout
    while queued or ((hold := hold_of(lock)) is not None and hold.task.agenda is task.agenda):
        queued = False
        rest = None if until is None else until - task.agenda.now
        in_time = wait_for(task, lock, rest, lambda: not lock.locked() and len(waiting[id(lock)]) == 1)
        if _acquire(lock, False):
            return _taken(lock, task, depth + 1)
        if not in_time:
            return False
    return wait_outside(task, partial(_acquire, lock, True), timeout)


def _imports(depth: int) -> bool:
    """Whether it is a lock of a module that somebody imports: no other rank may find it halfway, so all wait."""
    return sys._getframe(depth).f_globals.get("__name__") in ("importlib._bootstrap", "_frozen_importlib")


def _taken(lock: Any, task: Any, depth: int) -> bool:
    if task is not None:
        held[id(lock)] = Hold(lock, task, sys._getframe(depth))
        try:
            count_on(task)
        except BaseException:  # the run ends: the caller does not get the lock, and nobody else would release it
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
    if waiting and id(lock) in waiting:
        wake_one(lock, task_here())


def enter(lock: Any) -> bool:
    """`with lock:`."""
    return acquire(lock, depth=2)


def leave(lock: Any, *_: Any) -> None:
    """And its end."""
    release(lock)


def acquire_r(lock: Any, blocking: bool = True, timeout: float = -1, *, depth: int = 1) -> bool:
    """`RLock.acquire`."""
    task = task_here()
    if steered and blocking and timeout == -1:
        ask_for(lock, sys._getframe(depth), lambda: (hold := hold_of(lock)) is None or hold.task is task)
    if task is None or (timeout < 0 and timeout != -1) or not (blocking or timeout == -1):
        return bool(_acquire_r(lock, blocking, timeout))
    if _imports(depth + 1):
        return wait_outside(task, partial(_acquire_r, lock, True), timeout) if blocking else bool(_acquire_r(lock, False))
    until = None if timeout == -1 else task.agenda.now + timeout
    in_time, hold = True, hold_of(lock)
    queued = hold is None and bool(waiting) and blocking and id(lock) in waiting  # others came first
    while queued or (hold is not None and hold.task is not task and hold.task.agenda is task.agenda):
        queued = False
        if not blocking:
            look_again(task)
        if not (blocking and in_time):
            return False
        rest = None if until is None else until - task.agenda.now
        in_time = wait_for(task, lock, rest, lambda: hold_of(lock) is None and len(waiting[id(lock)]) == 1)
        hold = hold_of(lock)
    if not _acquire_r(lock, False) and not (blocking and wait_outside(task, partial(_acquire_r, lock, True), timeout)):
        return False
    if hold is not None and hold.task is task:
        hold.count += 1
    else:
        held[id(lock)] = Hold(lock, task, sys._getframe(depth))
        try:
            count_on(task)
        except BaseException:  # as above
            release_r(lock)
            raise
    return True


def release_r(lock: Any) -> None:
    """`RLock.release`."""
    task = task_here()
    hold = None if task is None else hold_of(lock)
    if hold is not None and hold.task is not task:
        raise RuntimeError("cannot release un-acquired lock")
    _release_r(lock)
    if hold is not None:
        hold.count -= 1
        if not hold.count:
            _let_go(lock, task)


def _let_go(lock: Any, task: Any) -> None:
    held.pop(id(lock), None)
    if waiting and id(lock) in waiting:
        wake_one(lock, task)


def enter_r(lock: Any) -> bool:
    """`with lock:`."""
    return acquire_r(lock, depth=2)


def leave_r(lock: Any, *_: Any) -> None:
    """And its end."""
    release_r(lock)


def is_owned_r(lock: Any) -> bool:
    """For conditions: whether the caller has it."""
    task = task_here()
    if task is None:
        return bool(_is_owned_r(lock))
    hold = hold_of(lock)
    return bool(_is_owned_r(lock)) and (hold is None or hold.task is task)


class Saved(tuple[Any, ...]):
    """What an RLock was when it was released for a while: its own state, and who held it."""


def save_r(lock: Any) -> Any:
    """For conditions: release it, however often it was acquired."""
    state, hold = _save_r(lock), hold_of(lock)
    _let_go(lock, task_here())
    return Saved((state, hold))


def restore_r(lock: Any, saved: Any) -> None:
    """For conditions: have it again as before."""
    state, hold = saved if isinstance(saved, Saved) else (saved, None)  # it may have been released before the run
    task = task_here()
    while task is not None and (other := hold_of(lock)) is not None and other.task.agenda is task.agenda:
        wait_for(task, lock, None, lambda: hold_of(lock) is None)
    _restore_r(lock, state)
    if hold is not None:
        held[id(lock)] = hold


METHODS = {
    Lock: {
        "acquire": acquire, "acquire_lock": acquire, "release": release, "release_lock": release, "__enter__": enter,
        "__exit__": leave,
    },
    RLock: {
        "acquire": acquire_r, "release": release_r, "__enter__": enter_r, "__exit__": leave_r, "_is_owned": is_owned_r,
        "_release_save": save_r, "_acquire_restore": restore_r,
    },
}  # fmt: skip
"""By type."""
