"""Tasks as OS threads, each parked on a lock of its own: slower than greenlets, and the standard library is enough."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from fakempi.kernel.loop import Ended, Loop
from fakempi.kernel.task import Task

STACK_BYTES = (8 << 20, 512 << 10)
"""A thread's stack, the first size that is to be had: 8 MiB are enough for all nested calls that Python allows by itself."""

_acquire, _release = type(threading.Lock()).acquire, type(threading.Lock()).release  # while nobody has changed them

_one_starts = threading.Lock()
"""The stack size of new threads is the whole process's, and runs may go on side by side."""


class Threads:
    """One thread a task, of which one runs at a time. `prologue` is called first in each; `where` says where they are."""

    def __init__(self, prologue: Callable[[Loop], None], where: Callable[[], dict[int, Any]]) -> None:
        self.prologue, self.where = prologue, where
        self.hub = threading.Event()  # set to have the hub look whether it has the baton
        self.ended: threading.Thread | None = None  # the last that has ended, but for its last step
        self.crash: BaseException | None = None

    def prepare(self, loop: Loop, task: Task) -> None:
        """The first to resume a task starts its thread."""
        task.resume = partial(self._start, loop, task)

    def drive(self, loop: Loop) -> None:
        """Hand the baton to the first task and sleep until it comes back."""
        first: Any = loop.next()
        if first is None:
            return
        try:
            first.resume()
            self._sleep(loop)
        except KeyboardInterrupt:
            loop.stop()
            while not self._has_baton(loop, 0.5):  # whoever runs may compute and never wait
                task: Any = loop.running
                if task is first and (first.handle is None or first.resume.__self__.locked()):
                    break  # it came before the baton was handed on
                if task is not None and task.handle is not None and task.number in loop.tasks:
                    throw(Ended, task.handle.ident)
            raise

    def to_hub(self) -> None:
        """Wake the hub."""
        self.hub.set()

    def wind_up(self, task: Task) -> None:
        """From the hub, until the task ends or is parked."""
        task.resume()
        self._sleep(task.agenda)

    def frames(self, tasks: list[Task]) -> dict[Task, Any]:
        """Where waiting tasks stand."""
        frames = self.where()
        return {task: frames.get(task.handle.ident) for task in tasks if task.handle is not None}

    def close(self) -> None:
        """Wait for the threads to be gone, except those that would not end."""
        if self.ended is not None:
            self.ended.join()

    def _sleep(self, loop: Any) -> None:
        while not self._has_baton(loop, 1):  # a signal that comes just before one waits for ever is not seen
            pass
        crash, self.crash = self.crash, None
        if crash is not None:
            raise crash

    def _has_baton(self, loop: Any, seconds: float) -> bool:  # to be woken twice at the end does no harm, nor not to be
        woken = (loop.ending and loop.running is None) or self.hub.wait(seconds)
        self.hub.clear()
        return self.crash is not None or (loop.running is None and (woken or loop.ending))

    def _start(self, loop: Loop, task: Task) -> None:
        baton = threading.Lock()
        _acquire(baton)
        body, name = partial(self._body, loop, task, _acquire.__get__(baton)), f"task {task.number}"
        task.handle = threading.Thread(target=body, name=name, daemon=True)
        task.resume, task.rest = _release.__get__(baton), _acquire.__get__(baton)
        try:
            _start_thread(task.handle)
        except BaseException:  # out of threads, or of memory; after Ctrl-C the thread may be there, and has to go
            task.handle = None
            self.prepare(loop, task)
            _release(baton)
            raise
        _release(baton)

    def _body(self, loop: Loop, task: Task, rest: Callable[[], Any]) -> None:
        to = None
        try:
            rest()  # until its starter is done with the process-wide stack size
            if task.handle is not threading.current_thread():
                return
            self.prologue(loop)
            if loop.begin(task):
                return
            before, self.ended = self.ended, task.handle
            if before is not None:
                before.join()
            to = loop.next()
        except BaseException as error:
            loop.tasks.pop(task.number, None)  # told to end when it had
            self.crash = error
        (self.hub.set if to is None else to.resume)()


def throw(kind: type[BaseException], thread: int) -> None:
    """Raise an exception in a thread, at its next step in Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def _start_thread(thread: threading.Thread) -> None:
    with _one_starts:
        before = threading.stack_size(STACK_BYTES[0])
        try:
            try:
                thread.start()
            except RuntimeError:
                threading.stack_size(STACK_BYTES[1])
                thread.start()
        finally:
            threading.stack_size(before)
