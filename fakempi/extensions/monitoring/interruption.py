"""End a run from outside, whatever its ranks are doing.

The state of a run may not change while a rank is in the middle of a call. So the running rank itself ends the run when it
next reaches a hook point: it waits, sends, or ends (`halt`). A rank that computes and reaches no hook point is interrupted
by an exception that is thrown into its thread (`Interrupter`). A rank has one second for its `finally` blocks. A rank that
catches the exception and continues is interrupted again, and finally abandoned: it is suspended and never resumed. The next
rank then has less time, so that a run whose ranks all catch the exception ends within two seconds.

No rank is interrupted while it switches tasks, or acquires or releases a lock (`may_interrupt`). A rank that waits for a
lock tests whether the run ends.

In the main thread the handler of a signal raises the exception, so that it also interrupts a blocking system call. The
signal is SIGURG, which is ignored by default. In other threads the exception is raised only when such a call returns. A rank
with a separate thread is abandoned in this case. A rank on a greenlet shares the caller's thread and cannot be abandoned, so
the run ends only when the call returns.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from fakempi.core.hooks import Layer, OnDefer, OnNext, OnWait
from fakempi.core.kernel.loop import Ended, Loop, abandon_task
from fakempi.core.kernel.threads import throw
from fakempi.extensions.threads.changes import CHANGES
from fakempi.extensions.threads.raw import acquire, allocate_lock, start_new_thread
from fakempi.mpi.base.call_site import frame_at, is_library, is_ours
from fakempi.mpi.base.current import os_thread
from fakempi.mpi.base.frames import current_frames, throw_into
from fakempi.mpi.base.process import Universe

GRACE = 1.0
"""Seconds that a rank has to end after the first interruption. If it takes longer, the next rank has a quarter of them."""

MIN_SHARE, MARGIN = 0.05, 0.1
"""Fractions of `GRACE`: the minimum for each rank, and the additional time until a thread without reaction is abandoned."""

TRIES = 3
"""How often a rank is interrupted before it is abandoned: the second time after `GRACE`, the others at once."""

_ISOLATION = (
    "finders", "imports", "loaders", "namespace", "os_exit", "packages.dependency_scan", "patches", "process_state",
    "rank_state",
)  # fmt: skip
PROTECTED = (
    "fakempi.core.features", "fakempi.core.kernel", "fakempi.core.launching", "fakempi.core.world",
    "fakempi.extensions.monitoring", "fakempi.extensions.threads",
    *(f"fakempi.isolation.{name}" for name in _ISOLATION),
)  # fmt: skip
"""Modules in which no rank is interrupted, and which test whether the run ends if they wait.

They switch tasks, acquire and release locks, exchange the interpreter's state, or read files.
"""

SEMAPHORES = "multiprocessing.synchronize"
"""Its functions wait for processes, so no task of the run is waiting for what `threading.Barrier` would leave locked."""

SERVES_CHILD = "fakempi.processes.server"
"""The module whose code waits for the process of a rank. The program runs there: no frame of this process need be of it."""

USES_LOCKS = ("threading", "queue", "concurrent.futures")
"""Modules of Python in which no rank is interrupted while the lock types are replaced: a lock would stay locked, such as one
that Python acquires at exit, or a rank would release a lock that it does not hold."""

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
        self.was_interrupted = self.was_before = False  # whether the task was interrupted, and whether before the last time
        self.share = 1.0  # the fraction of `GRACE` that a rank has
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
        self.was_interrupted, self.grace = True, GRACE * self.share

    def observe(self, universe: Universe, now: float) -> bool:
        """Interrupt the running rank if its time has passed; return False if it does not react on the caller's thread."""
        task: Any = universe.loop.running
        handle: Any = getattr(task, "handle", None)
        has_thread = hasattr(handle, "ident")
        if handle is None or (has_thread and handle.ident is None):
            return True  # no task, or one that has not started
        if task is not self.task:
            if self.task is not None:
                self.give_grace()
            self.task, self.interrupted, self.alive, self.abandoned = task, now, now, False
            self.count = self.count_before = task.ended_count
        if task.ended_count != self.count:
            self.count, self.alive = task.ended_count, now
        if self.missed:
            self.missed, self.was_interrupted, self.grace = False, self.was_before, 0.0
        silent = now - self.alive
        # the thread may have ended without resuming another task
        if has_thread and (silent > GRACE * (self.share + MARGIN) or not handle.is_alive()):
            if not self.abandoned:
                self._abandon(universe, task)
                self._reduce_share()
        elif now - self.interrupted >= self.grace:
            exception = Interrupted if self.count - self.count_before < TRIES else Abandoned
            if self._interrupt(handle.ident if has_thread else universe.driver, exception):
                self.interrupted, self.was_before = now, self.was_interrupted
                if self.was_interrupted and self.grace:
                    self._reduce_share()
                self.grace = 0.0 if self.was_interrupted else GRACE * self.share
                self.was_interrupted = True
        return has_thread or silent <= (TRIES + 1) * GRACE

    def _reduce_share(self) -> None:
        """Give later ranks less time, because one has used up its time."""
        self.share = max(self.share / 4, MIN_SHARE)

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
        frame = current_frames().get(thread)
        if frame is None or not may_interrupt(frame):
            return False
        if self.has_handler and thread == threading.main_thread().ident:
            self.exception = exception
            assert SIGNAL is not None
            signal.pthread_kill(thread, SIGNAL)
            return True
        return throw_into(frame, thread, exception)

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
    """Return whether a rank may be interrupted there: not in protected code, and not in functions that such code calls.

    A rank is not interrupted either while fakempi or Python imports a module: other ranks would find an incomplete module.
    """
    in_program = in_ours = False  # whether a frame of the program was seen, or one of fakempi
    while frame is not None and frame.f_code is not Loop.begin.__code__:
        name = _module(frame)
        if in_program or not (is_ours(frame) or is_library(frame)):
            in_program = True
        elif is_ours(frame):
            in_ours = True
            if name.startswith(PROTECTED):
                return False
            in_program = name == SERVES_CHILD
        elif name == SEMAPHORES:
            in_program = True
        elif name.startswith(USES_LOCKS):
            if CHANGES.is_made and not in_ours:
                return False
            in_program = True  # a thread or a pool that calls MPI
        elif name.startswith(("importlib.", "_weakrefset")):  # in the latter, Python would print the exception and continue
            return False
        frame = frame.f_back
    return frame is not None


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))
