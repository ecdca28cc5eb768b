"""Tasks as OS threads, each of which waits for its turn on a lock: slower than greenlets, but in the standard library."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from fakempi.core.kernel.loop import Ended, Loop
from fakempi.core.kernel.task import Task

STACK_BYTES = (8 << 20, 512 << 10)  # of a thread, the first that works: 8 MiB are enough for Python's own recursion limit

_acquire, _release = type(threading.Lock()).acquire, type(threading.Lock()).release  # a run may replace the methods

_start_lock = threading.Lock()  # the stack size of new threads belongs to the process, and several runs may be active


class TaskThread(threading.Thread):
    """A thread whose target returns its last call. Before that, it leaves `threading`, whose lock the next task needs."""

    def run(self) -> None:
        """Call the target, leave, and call what the target has returned."""
        last = self.__dict__.pop("_target")()
        super()._delete()  # type: ignore[misc]  # private in threading, absent from typeshed
        last()

    def _delete(self) -> None: ...


class Threads:
    """One thread per task. `prologue` is called first in each; `all_frames` returns the frames of all threads by ident."""

    def __init__(self, prologue: Callable[[Loop], None], all_frames: Callable[[], dict[int, Any]]) -> None:
        self.prologue, self.all_frames = prologue, all_frames
        self.hub = threading.Event()  # set to wake the hub, which then checks whether it has its turn
        self.ended: threading.Thread | None = None  # the thread of the last task that has ended
        self.crash: BaseException | None = None

    def prepare(self, loop: Loop, task: Task) -> None:
        """Set `resume` of a new task, which starts its thread."""
        task.resume = task.switch = partial(self._start, loop, task)

    def drive(self, loop: Loop) -> None:
        """Resume the first task and sleep until no task can run."""
        first: Any = loop.next()
        if first is None:
            return
        try:
            first.resume()
            self._sleep(loop)
        except KeyboardInterrupt:
            loop.stop()
            while not self._is_hubs_turn(loop, 0.5):  # the running task may compute and never wait
                task: Any = loop.running
                if task is first and (first.handle is None or first.switch.__self__.locked()):
                    break  # the interrupt arrived before the first task was resumed
                if task is not None and task.handle is not None and task.number in loop.tasks:
                    throw(Ended, task.handle.ident)
            raise

    def to_hub(self) -> None:
        """Wake the hub."""
        self.hub.set()

    def unwind_task(self, task: Task) -> None:
        """From the hub: let a task run until it ends or switches back."""
        task.resume()
        self._sleep(task.agenda)

    def frames(self, tasks: list[Task]) -> dict[Task, Any]:
        """Return the frames of waiting tasks."""
        frames = self.all_frames()
        return {task: frames.get(task.handle.ident) for task in tasks if task.handle is not None}

    def close(self) -> None:
        """Wait for the end of all threads, except those of suspended tasks."""
        if self.ended is not None:
            self.ended.join()

    def _sleep(self, loop: Any) -> None:
        while not self._is_hubs_turn(loop, 1):  # a wait without a time limit may miss a signal that arrives just before it
            pass
        crash, self.crash = self.crash, None
        if crash is not None:
            raise crash

    def _is_hubs_turn(self, loop: Any, seconds: float) -> bool:  # spurious and missed wake-ups at the end are harmless
        if woken := (loop.ending and loop.running is None) or self.hub.wait(seconds):  # else it may be set by now
            self.hub.clear()
        return self.crash is not None or (loop.running is None and (woken or loop.ending))

    def _start(self, loop: Loop, task: Task) -> None:
        turn = threading.Lock()  # free when the task may run
        _acquire(turn)
        task.await_turn = _acquire.__get__(turn)
        body = partial(self._body, loop, task, task.await_turn)
        task.handle = TaskThread(target=body, name=f"task {task.number}", daemon=True)
        loop.set_switch(task, _release.__get__(turn))
        try:
            _start_thread(task.handle)
        except BaseException:  # out of threads or memory, or Ctrl-C: then the thread may exist, and ends at once
            task.handle = None
            self.prepare(loop, task)
            _release(turn)
            raise
        _release(turn)

    def _body(self, loop: Loop, task: Task, await_turn: Callable[[], Any]) -> Callable[[], Any]:
        try:
            await_turn()  # until its starter has restored the process-wide stack size
            self.prologue(loop)
            if task.handle is not threading.current_thread() or loop.begin(task):
                return bool
            self.close()  # of the task that ended before
            self.ended = task.handle
            return self.hub.set if (to := loop.next()) is None else to.resume
        except BaseException as error:
            loop.tasks.pop(task.number, None)  # `Ended` was thrown when it had ended
            self.crash = error
        return self.hub.set


def throw(kind: type[BaseException], thread: int) -> None:
    """Raise an exception in a thread, at its next bytecode instruction."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))


def _start_thread(thread: threading.Thread) -> None:
    with _start_lock:
        before = threading.stack_size(STACK_BYTES[0])
        try:
            thread.start()
        except RuntimeError:
            threading.stack_size(STACK_BYTES[1])
            thread.start()
        finally:
            threading.stack_size(before)
