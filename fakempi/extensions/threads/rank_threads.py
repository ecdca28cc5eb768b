"""Rank threads: OS threads that a rank has started. Each is a task of the rank, on either backend.

A rank thread waits for its turn on a lock, as every task of the threads backend does. Greenlets can be resumed only in the
OS thread that they share. On the greenlet backend, a `MixedBackend` therefore passes turns between that OS thread and the
rank threads. The first rank thread of a run creates the `MixedBackend`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.extensions.threads.raw import acquire, allocate_lock, release, start_new_thread
from fakempi.mpi.base.child import SenderTasks
from fakempi.mpi.base.current import os_thread


class RankThread:
    """The handle of a rank thread's task: its OS thread. `thread` is the program's `threading.Thread`, if there is one."""

    __slots__ = ("has_ended", "ident", "sentinel", "thread")

    def __init__(self) -> None:
        self.sentinel: Any = None  # a lock that is released when the thread ends
        self.ident: int | None = None
        self.thread: Any = None
        self.has_ended = False

    def is_alive(self) -> bool:
        """Return whether the thread has not ended."""
        return not self.has_ended

    def ends_with(self, lock: Any) -> bool:
        """Return whether this lock is released when the thread ends."""
        return lock is self.sentinel

    @property
    def name(self) -> str:
        """The thread's name in the program."""
        return "a thread" if self.thread is None else str(self.thread.name)

    @property
    def daemon(self) -> bool:
        """Whether the rank ends without waiting for the thread; always true without `threading.Thread`."""
        return self.thread is None or bool(self.thread.daemon)


def start_rank_thread(loop: Loop, owner: Any, body: Callable[[], None]) -> Task:
    """Start a task of `owner`, a rank, in a new OS thread."""
    task = loop.spawn(body, owner, _prepare)
    task.order = owner.order_of(task)
    owner.universe.state(SenderTasks)
    if loop.wait_tracker is not None:
        loop.wait_tracker.start(task)
    return task


def _prepare(loop: Loop, task: Task) -> None:
    """Start the OS thread of a new task, and set the functions that pass a turn to the task."""
    turn = allocate_lock()
    acquire(turn)
    task.handle = RankThread()
    task.await_turn = acquire.__get__(turn)
    switch: Callable[[], Any] = release.__get__(turn)
    backend: Any = loop.backend
    if hasattr(backend, "thread"):  # the OS thread that all greenlets share
        from fakempi.extensions.threads.mixed_backend import mixed  # greenlet may not be installed

        backend = mixed(loop)
        switch = partial(backend.into_thread, switch)
    loop.set_switch(task, switch)
    task.handle.ident = start_new_thread(_run, (loop, task, backend, task.await_turn))


def _run(loop: Loop, task: Task, backend: Any, await_turn: Callable[[], Any]) -> None:
    """The body of the new OS thread. `await_turn` is an argument, since `_begin` may replace that of the task meanwhile."""
    await_turn()
    os_thread.loop = loop
    try:
        if loop.ending and task.handle.thread is not None:
            threading._limbo.pop(task.handle.thread, None)  # type: ignore[attr-defined]  # the thread will not begin
        abandoned = loop.begin(task)
        task.handle.has_ended = True
        if abandoned:
            return
        next_task = loop.next()
    except BaseException as error:
        backend.crash = error
        next_task = None
    if next_task is None:
        backend.to_hub()
    else:
        next_task.resume()
