"""Guests: tasks that are OS threads of the program's own, whatever carries the others.

A guest has a lock as its baton, like every task on threads, and there all is as ever. Greenlets can be resumed only in the
one OS thread that they share. So a guest that resumes a greenlet says so (`wanted`) and wakes that thread, which was put to
sleep when a guest was resumed from there (`Opened`). A run without threads pays nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from fakempi.kernel.loop import Loop
from fakempi.kernel.task import Task
from fakempi.mpi.base.current import here
from fakempi.threads.raw import acquire, allocate_lock, release, start_new_thread


class Guest:
    """The handle of such a task: its OS thread. `thread` is the program's own object for it, if there is one."""

    __slots__ = ("ident", "over", "sentinel", "thread")

    def __init__(self) -> None:
        self.sentinel: Any = None  # a lock that is let go at its end
        self.ident: int | None = None
        self.thread: Any = None
        self.over = False

    def is_alive(self) -> bool:
        """Whether it has not come to its end."""
        return not self.over

    def ends_with(self, lock: Any) -> bool:
        """Whether it is this lock that tells of its end."""
        return lock is self.sentinel

    @property
    def name(self) -> str:
        """What the program calls it."""
        return "a thread" if self.thread is None else str(self.thread.name)

    @property
    def daemon(self) -> bool:
        """Whether nobody waits for it: what is started without `threading` is like that."""
        return self.thread is None or bool(self.thread.daemon)


def start_guest(loop: Loop, owner: Any, body: Callable[[], None]) -> Task:
    """A new task in an OS thread of its own."""
    return loop.spawn(body, owner, _prepare)


def _prepare(loop: Loop, task: Task) -> None:
    baton = allocate_lock()
    acquire(baton)
    task.handle = Guest()
    task.resume, task.rest = release.__get__(baton), acquire.__get__(baton)
    if hasattr(loop.carrier, "thread"):  # the one that all greenlets share
        from fakempi.threads.opened import opened  # not before it is needed: there may be no greenlets

        task.resume = partial(opened(loop).into_guest, task.resume)
    task.handle.ident = start_new_thread(_run, (loop, task))


def _run(loop: Loop, task: Task) -> None:
    """In the new thread."""
    task.rest()
    here.loop = loop
    carrier: Any = loop.carrier
    try:
        if loop.ending and task.handle.thread is not None:
            threading._limbo.pop(task.handle.thread, None)  # type: ignore[attr-defined]  # it will not begin
        lost = loop.begin(task)
        task.handle.over = True
        if lost:
            return
        to = loop.next()
    except BaseException as error:
        carrier.crash = error
        to = None
    if to is None:
        carrier.to_hub()
    else:
        to.resume()
