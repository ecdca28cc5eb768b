"""End a run from outside, whatever its ranks are doing.

The state of a run may not change while a rank is in the middle of a call. So the running rank itself ends the run when it
next reaches a hook point: it waits, sends, or ends (`halt`). A rank that computes and reaches no hook point is interrupted
by an exception that is thrown into its thread (`Interrupter`). A rank has one second for each `finally` block. A rank that
catches the exception and continues is interrupted again, and finally abandoned: it is suspended and never resumed.

In the main thread the handler of a signal raises the exception, so that it also interrupts a blocking system call. The
signal is SIGURG, which is ignored by default. In other threads the exception is raised only when such a call returns. A rank
with a separate thread is abandoned in this case. A rank on a greenlet shares the caller's thread and cannot be abandoned, so
the run ends only when the call returns.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from fakempi.core.hooks import Layer, OnDefer, OnNext, OnWait
from fakempi.core.kernel.loop import Ended, Loop
from fakempi.core.kernel.threads import Threads, throw
from fakempi.extensions.threads.raw import acquire, allocate_lock, start_new_thread
from fakempi.isolation.os_exit import abandon_task
from fakempi.mpi.base.call_site import frame_at, is_library, is_ours
from fakempi.mpi.base.current import os_thread
from fakempi.mpi.base.frames import current_frames
from fakempi.mpi.base.process import Universe

GRACE = 1.0
"""Seconds that a rank has to end after each interruption."""

TRIES = 3
"""How often a rank is interrupted before it is abandoned."""

_ISOLATION = (
    "dependency_scan", "finders", "imports", "loaders", "namespace", "os_exit", "patches", "process_state", "rank_state",
)  # fmt: skip
PROTECTED = (
    "fakempi.core.kernel", "fakempi.core.world", "fakempi.extensions.monitoring", "fakempi.extensions.threads.mixed_backend",
    "fakempi.extensions.threads.rank_threads",
    *(f"fakempi.isolation.{name}" for name in _ISOLATION),
)  # fmt: skip
"""Modules in which no rank is interrupted: they switch tasks, exchange the interpreter's state, or read files."""

SIGNAL = getattr(signal, "SIGURG", None) if hasattr(signal, "pthread_kill") else None


def halt(universe: Universe, verdict: Callable[[], BaseException]) -> None:
    """Let the next task that reaches a hook point of its loop or network end the run. May be called in any thread."""
    halted = Halted(universe, verdict)
    universe.loop.subscribe(halted)
    universe.network.close(halted.reject)


class Halted(OnWait, OnDefer, OnNext[Any]):
    """Ends a run when a task reaches a hook point, in the thread of that task."""

    layer = Layer.TIME_LIMIT

    def __init__(self, universe: Universe, verdict: Callable[[], BaseException]) -> None:
        self.universe, self.verdict = universe, verdict

    def wait(self, proceed: Any) -> None:
        """End the run instead of a wait."""
        self.reject()

    def defer(self, proceed: Any, at: Any) -> bool:
        """End the run instead of booking a task."""
        self.reject()
        return False

    def next(self, proceed: Any) -> Any:
        """End the run when a task has ended; then there is no next one."""
        self.end()
        return proceed()

    def reject(self) -> None:
        """End the run and the running task."""
        loop = self.universe.loop
        self.end()
        if loop.running is None:
            raise Ended
        loop.raise_ended(loop.running)

    def end(self) -> None:
        """End the run."""
        self.universe.loop.unsubscribe(self)
        self.universe.end(self.verdict())


class Withdrawn(BaseException):
    """Replaces an exception that was thrown into a thread and has not been raised yet."""


def withdraw_thrown() -> None:
    """In a thread: cancel an exception that was thrown into it and has not been raised yet.

    Another exception is thrown and caught. Throwing NULL, which Python offers for this, leaves the interpreter's flag set:
    Hypothesis was seen to hang after it, on 3.11.
    """
    try:
        throw(Withdrawn, threading.get_ident())
        for _ in range(1000):
            pass
    except Withdrawn:
        pass


class Interrupted(Ended):
    """Ends a rank. The interpreter creates the instance in the rank's thread, which counts the interruption."""

    def __init__(self) -> None:
        super().__init__()
        loop: Loop | None = os_thread.loop
        if loop is not None and loop.running is not None:  # otherwise the rank has ended
            loop.running.ended_count += 1
            self.act(loop, loop.running, frame_at(1))

    def act(self, loop: Loop, task: Any, frame: FrameType) -> None:
        """Do nothing; a subclass may override this method."""


class Abandoned(Interrupted):
    """Suspends a rank forever: it switches to the next task and is never resumed."""

    def act(self, loop: Loop, task: Any, frame: FrameType) -> None:
        """Abandon the task, unless it has entered protected code meanwhile, such as an import."""
        if frame.f_code is Interrupter._on_signal.__code__ or may_interrupt(frame):
            abandon_task(loop, task)
            loop.raise_ended(task)


class Interrupter:
    """Interrupts the ranks of a run that do not end, from the monitor's thread, until all have ended."""

    def __init__(self, ended: threading.Event) -> None:
        self.ended = ended  # an event, set when the run has ended
        self.task: Any = None  # the running one
        self.grace = 0.0  # 0 for a rank that computes when the time limit is reached: it is in no `finally` block
        self.interrupted = self.alive = 0.0  # when the task was last interrupted, and when `Ended` was last raised in it
        self.count = self.count_before = 0  # how often `Ended` was raised in it, now and when it was first seen
        self.abandoned = False  # whether its thread was abandoned
        self.exception: type[Ended] | None = None  # the exception that the signal handler raises
        self.missed = False  # whether the signal arrived in protected code
        self.before: Any = None  # the handler of the signal before the run
        self.has_handler = False

    def give_grace(self) -> None:
        """Give the running rank time for its `finally` blocks, because the caller interrupts it."""
        self.grace = GRACE

    def observe(self, universe: Universe, now: float) -> bool:
        """Interrupt the running rank if its time has passed; return False if it does not react on the caller's thread."""
        task: Any = universe.loop.running
        handle: Any = getattr(task, "handle", None)
        has_thread = hasattr(handle, "ident")
        if handle is None or (has_thread and handle.ident is None):
            return True  # no task, or one that has not started
        if task is not self.task:
            if self.task is not None:
                self.grace = GRACE
            self.task, self.interrupted, self.alive, self.abandoned = task, now, now, False
            self.count = self.count_before = task.ended_count
        if task.ended_count != self.count:
            self.count, self.alive = task.ended_count, now
        if self.missed:
            self.missed, self.grace = False, 0.0
        no_reaction = now - self.alive > (TRIES + 1) * GRACE
        if has_thread and (no_reaction or not handle.is_alive()):  # the thread may have ended without resuming another task
            if not self.abandoned:
                self._abandon(universe, task)
        elif now - self.interrupted >= self.grace:
            exception = Interrupted if self.count - self.count_before < TRIES else Abandoned
            if self._interrupt(handle.ident if has_thread else universe.driver, exception):
                self.interrupted, self.grace = now, GRACE
        return has_thread or not no_reaction

    def _abandon(self, universe: Universe, task: Any) -> None:
        """Continue without a thread that has ended or does not react. If its blocking call ever returns, the thread ends.

        A rank that catches this exception as well is suspended: it would otherwise compute for as long as the process runs.

        The thread may end at this very moment. Then only the thread that removes the task, the abandoned one or this one,
        resumes the next task.
        """
        ended, thread = self.ended, task.handle

        class Late(Ended):
            def __init__(self) -> None:
                super().__init__()
                ended.wait()  # until then other tasks run
                start_new_thread(_suspend_unless_ended, (thread,))

        self.abandoned = True
        loop: Any = universe.loop
        if loop.running is task and loop.tasks.pop(task.number, None) is not None:  # otherwise it has just ended
            if thread.is_alive():
                throw(Late, thread.ident)
            loop.running = None
            loop.backend.to_hub()

    def _interrupt(self, thread: int, exception: type[Ended]) -> bool:
        """Raise an exception in a thread; False if it is in protected code."""
        if not may_interrupt(current_frames().get(thread)):
            return False
        if self.has_handler and thread == threading.main_thread().ident:
            self.exception = exception
            assert SIGNAL is not None
            signal.pthread_kill(thread, SIGNAL)
        else:
            throw(exception, thread)
        return True

    def open(self) -> None:
        """In the thread that drives the run: install the signal handler, if it is the main thread."""
        if SIGNAL is None or threading.get_ident() != threading.main_thread().ident:
            return
        if signal.getsignal(SIGNAL) is not None:  # None: a handler that is not Python's, which could not be restored
            self.before = signal.signal(SIGNAL, self._on_signal)
            self.has_handler = True

    def close(self) -> None:
        """In the same thread: restore the signal handler, or cancel an exception that was not raised yet."""
        if self.has_handler:
            assert SIGNAL is not None
            signal.signal(SIGNAL, self.before)
        elif self.task is not None:
            withdraw_thrown()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        exception, self.exception = self.exception, None
        if exception is None:
            if callable(self.before):
                self.before(number, frame)
        elif may_interrupt(frame):
            raise exception
        else:
            self.missed = True


def _suspend_unless_ended(thread: threading.Thread) -> None:
    """Suspend a thread of a past run that has not ended after the grace period."""
    suspended, never = threading.Event(), allocate_lock()
    acquire(never)

    class Suspended(Ended):
        def __init__(self) -> None:
            super().__init__()
            if may_interrupt(frame_at(1)):  # otherwise it may hold the lock of an import
                suspended.set()
                acquire(never)

    while not suspended.wait(GRACE) and thread.is_alive():
        if may_interrupt(current_frames().get(thread.ident or 0)):
            throw(Suspended, thread.ident or 0)


def may_interrupt(frame: FrameType | None) -> bool:
    """Return whether a rank may be interrupted there: not in protected code, and not while fakempi imports a module."""
    imports, caller = False, frame
    while caller is not None and is_library(caller):
        if _module(caller) == "_weakrefset":  # called by the interpreter, which would print the exception and continue
            return False
        imports = imports or _module(caller).startswith("importlib.")
        caller = caller.f_back
    if caller is None or (is_ours(caller) and (imports or _module(caller).startswith(PROTECTED))):
        return False
    return _is_called_by(caller, Loop.begin.__code__)


def awaits_ranks(frame: FrameType | None) -> bool:
    """Return whether the thread that called `run` waits for ranks on other threads."""
    return _is_called_by(frame, Threads.drive.__code__)


def _is_called_by(frame: FrameType | None, code: CodeType) -> bool:
    """Return whether the code is that of a frame or of one of its callers."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
