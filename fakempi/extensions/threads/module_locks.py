"""Locks of modules that are being imported, held by tasks.

Python holds a lock for each module while it is imported, and identifies the holder by its OS thread. Ranks on greenlets
share one OS thread, so a rank would use a partly initialized module that another rank is importing. On threads, a rank would
block its OS thread, and the holder would never get its turn. Here the holder is a task, and other tasks wait in the loop.

`importlib._bootstrap._get_module_lock` is replaced in every run, since no hook is called before a rank imports a module.
Only imports of modules that are not loaded yet call it. It also reports the modules that ranks import, so that changes.py
detects programs that start threads through an imported module.
"""

from __future__ import annotations

import importlib._bootstrap as _bootstrap
from collections.abc import Callable
from typing import Any

from fakempi.core.kernel.task import Task
from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.waiting import wait_for, wake_one

bootstrap: Any = _bootstrap
_original: Any = getattr(bootstrap, "_get_module_lock", None)


class _Names:
    """`key` returns the key of a module's lock: the module's name and, for a private module of a script, the rank."""

    key: Callable[[str], Any] = staticmethod(lambda name: name)
    imported: Callable[[str], None] = staticmethod(lambda name: None)  # called when a rank has imported a module


names = _Names()
_locks: dict[Any, ModuleLock] = {}
"""Locks that are held or awaited."""


class ModuleLock:
    """The lock that importlib acquires and releases around the import of a module.

    Python's own lock is acquired as well, for other runs and threads of the process.
    """

    __slots__ = ("__weakref__", "count", "key", "originals", "owner", "waiters")

    def __init__(self, key: Any) -> None:
        self.key = key
        self.originals: list[Any] = []
        self.owner: Any = None  # a task
        self.count = self.waiters = 0

    def acquire(self) -> bool:
        """Wait for the lock in the loop; raise importlib's exception if two tasks would wait for each other."""
        task: Any = current_task()
        while self.owner is not None and self.owner is not task:
            if self._is_circular(task):
                raise bootstrap._DeadlockError(f"deadlock detected by the lock of module {self.key!r}")
            self.waiters += 1
            _waiting[task] = self
            try:
                wait_for(task, self, None, lambda: self.owner is None)
            finally:
                self.waiters -= 1
                _waiting.pop(task, None)
        self.owner = task
        original = _original(self.key[1] if isinstance(self.key[1], str) else f"{self.key[1][0]} of {id(self.key[1][1])}")
        try:
            original.acquire()
        except BaseException:
            self._free_if_unused()
            raise
        self.originals.append(original)
        self.count += 1
        _held[task] = _held.get(task, 0) + 1
        return True

    def release(self) -> None:
        """Release the lock, and wake the next task that waits for it."""
        task = self.owner
        _held[task] -= 1
        if not _held[task]:
            del _held[task]
        self.originals.pop().release()
        self.count -= 1
        if not self.count:
            names.imported(self.key[1] if isinstance(self.key[1], str) else self.key[1][0])
        self._free_if_unused()

    def _free_if_unused(self) -> None:
        if not self.count:
            self.owner = None
            if self.waiters:
                wake_one(self, current_task())
            elif _locks.get(self.key) is self:
                del _locks[self.key]

    def _is_circular(self, task: Task) -> bool:
        lock: ModuleLock | None = self
        while lock is not None and lock.owner is not None:
            if lock.owner is task:
                return True
            lock = _waiting.get(lock.owner)
        return False


_waiting: dict[Task, ModuleLock] = {}
_held: dict[Task, int] = {}


def is_importing(task: Task) -> bool:
    """Return whether a task is in the middle of an import."""
    return task in _held


def get_module_lock(name: str) -> Any:
    """`importlib._bootstrap._get_module_lock`."""
    task = current_task()
    if task is None:
        return _original(name)
    key = task.agenda, names.key(name)
    return _locks.get(key) or _locks.setdefault(key, ModuleLock(key))


def forget(loop: Any) -> None:
    """Remove the locks of a run that has ended, with those of tasks that were left in the middle of an import."""
    for key in [key for key in _locks if key[0] is loop]:
        del _locks[key]
    for table in (_waiting, _held):
        for task in [task for task in table if task.agenda is loop]:
            del table[task]


METHODS = {bootstrap: {"_get_module_lock": get_module_lock}}
