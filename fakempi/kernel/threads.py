"""Tasks as OS threads, each parked on a lock of its own: slower than greenlets, and the standard library is enough."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from fakempi.kernel.loop import Ended, Loop
from fakempi.kernel.task import Task

STACK_BYTES = 512 * 1024
"""A thread's stack: enough for some hundred nested Python calls, small enough for thousands of threads."""

_one_starts = threading.Lock()
"""The stack size of new threads is the whole process's, and runs may go on side by side."""


class Threads:
    """One thread a task, of which one runs at a time. `prologue` is called first in each of them."""

    def __init__(self, prologue: Callable[[Loop], None]) -> None:
        self.prologue = prologue
        self.hub = threading.Event()  # set while the hub has the baton
        self.ended: threading.Thread | None = None  # the last that has ended, but for its last step
        self.crash: BaseException | None = None

    def prepare(self, loop: Loop, task: Task) -> None:
        """The first to resume a task starts its thread."""
        task.resume = partial(self._start, loop, task)

    def drive(self, loop: Loop) -> None:
        """Hand the baton to the first task and sleep until it comes back."""
        first = loop.next()
        if first is None:
            return
        try:
            self.hub.clear()
            first.resume()
            self._sleep()
        except KeyboardInterrupt:
            loop.stop()
            while not self.hub.wait(0.1):  # whoever runs may compute and never wait
                if loop.running is not None and loop.running.handle is not None:
                    thread = ctypes.c_ulong(loop.running.handle.ident)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(Ended))
            raise

    def to_hub(self) -> None:
        """Wake the hub."""
        self.hub.set()

    def wind_up(self, task: Task) -> None:
        """From the hub, until the task ends or is parked."""
        self.hub.clear()
        task.resume()
        self._sleep()

    def frames(self, tasks: list[Task]) -> dict[Task, Any]:
        """Where waiting tasks stand."""
        collects = gc.isenabled()
        gc.disable()  # if a collection in the midst of it ends a thread, it hangs (seen on 3.11)
        frames = sys._current_frames()
        if collects:
            gc.enable()
        return {task: frames.get(task.handle.ident) for task in tasks if task.handle is not None}

    def close(self) -> None:
        """Wait for the threads to be gone, except those that would not end."""
        if self.ended is not None:
            self.ended.join()

    def _sleep(self) -> None:
        while not self.hub.wait(1):  # a signal that comes just before one waits for ever is not seen
            pass
        crash, self.crash = self.crash, None
        if crash is not None:
            raise crash

    def _start(self, loop: Loop, task: Task) -> None:
        task.handle = threading.Thread(target=self._body, args=(loop, task), name=f"task {task.number}", daemon=True)
        baton = threading.Lock()
        baton.acquire()
        task.resume, task.rest = baton.release, baton.acquire
        with _one_starts:
            before = threading.stack_size(STACK_BYTES)
            try:
                task.handle.start()
            except BaseException:  # out of threads, or of memory
                task.handle = None
                self.prepare(loop, task)
                raise
            finally:
                threading.stack_size(before)
        baton.release()

    def _body(self, loop: Loop, task: Task) -> None:
        to = None
        try:
            task.rest()  # until its starter is done with the process-wide stack size
            self.prologue(loop)
            loop.begin(task)
            before, self.ended = self.ended, task.handle
            if before is not None:
                before.join()
            to = loop.next()
        except BaseException as error:
            self.crash = error
        if to is None:
            self.hub.set()
        else:
            to.resume()
