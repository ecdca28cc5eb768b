"""A thread that observes a run: it shows the progress, and ends the run after the time limit."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack, suppress
from time import thread_time
from types import FrameType, TracebackType

from fakempi.core.kernel.loop import Ended
from fakempi.extensions.monitoring.busy_waiting import PAUSE, BusyWaiting
from fakempi.extensions.monitoring.display import LiveLine, display_for
from fakempi.extensions.monitoring.interruption import Interrupter, halt
from fakempi.extensions.monitoring.status import RunningRank, progress, timeout_error
from fakempi.extensions.threads.raw import acquire, monotonic, release, start_new_thread
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.current import os_thread
from fakempi.mpi.base.frames import current_frames
from fakempi.mpi.base.process import Universe

REACTION_TIME = 0.05
"""Seconds in which a rank that communicates reaches a hook point and ends the run; then the running rank is interrupted."""

ENDING_INTERVAL = 0.01
"""Seconds between two observations of a run that is being ended."""

CANNOT_INTERRUPT = "the running rank is in a call that cannot be interrupted; the run ends when the call returns"

_live_line = threading.Lock()
"""A terminal shows one live line at a time; the run that holds this lock shows its line."""


class Monitor:
    """Observes a run. A context manager around the run, in the thread that drives it.

    Its thread is not started by `threading`, because it would become a thread of the rank if a rank has started this run.
    """

    def __init__(self, universe: Universe, timeout: float | None, progress: bool | str) -> None:
        self.universe = universe
        self.timeout = float("inf") if timeout is None else float(timeout)
        self.part = ""  # the part of the run that the time limit is for; empty for the whole run
        self.stream = sys.stderr
        self.display = display_for(progress, self.stream)
        self.ended, self.observing, self.lock = threading.Event(), threading.Lock(), threading.Lock()
        self.wake = threading.Event()  # set to wake the thread at once
        self.interrupter, self.running, self.busy_waiting = Interrupter(self.ended), RunningRank(), BusyWaiting()
        self.error: BaseException | None = None  # the reason to end the run
        self.leaving = False
        universe.monitor = self

    def __enter__(self) -> None:
        if isinstance(self.display, LiveLine) and not _live_line.acquire(blocking=False):
            self.display = None
        with ExitStack() as undo:  # in case of Ctrl-C, or if the thread cannot be started
            undo.callback(self._close_display)
            if self.display is not None:
                self.display.open()
            undo.callback(self.interrupter.close)
            self.begin(True)
            undo.pop_all()

    def begin(self, in_driver: bool) -> None:
        """Start the monitor's thread. `in_driver`: the caller is the thread that drives the run."""
        if in_driver:
            self.interrupter.open()
        acquire(self.observing)
        start_new_thread(self._observe, ())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._join()
        finally:
            self._close_display()

    def _close_display(self) -> None:
        if self.display is not None:
            self.display.close()
            if isinstance(self.display, LiveLine):
                _live_line.release()

    def interrupt(self, error: BaseException, raises: bool) -> BaseException | None:
        """End the run. Called in the thread that drives the run, by a signal handler, or in any other thread.

        The run raises this error, even if ranks catch exceptions. `raises`: the caller raises an exception in the running
        rank, which then has time for its `finally` blocks. Returns the error; None if the run has already ended.
        """
        if self.leaving:  # the thread that drives the run may be inside `_join`
            return None
        if self.error is None:
            self.error = error
            self.universe.decide(error)
            if raises:
                self.interrupter.give_grace()
            halt(self.universe, lambda: error)
            before, os_thread.loop = os_thread.loop, None  # the lock of `wake` is not acquired by the interrupted rank
            try:
                self.wake.set()
            finally:
                os_thread.loop = before
        return error

    def _join(self) -> None:
        self.leaving = True
        while True:
            try:
                self.ended.set()
                self.wake.set()
                acquire(self.observing)
                try:
                    return self.interrupter.close()
                finally:
                    release(self.observing)
            except Ended:  # thrown just before
                continue

    # -- in its own thread --------------------------------------------------------------------------------------------

    def _observe(self) -> None:
        os_thread.loop = self.universe.loop  # this thread is part of the run
        start, elapsed = monotonic(), 0.0
        due = float("inf") if self.display is None else self.display.pause(0.0)  # when the display is updated
        try:
            while elapsed < self.timeout:
                self.wake.wait(max(0.0, min(self.timeout - elapsed, due - elapsed, PAUSE)))
                if self.ended.is_set():
                    return
                if self.error is not None:
                    break
                elapsed = monotonic() - start
                if self.display is not None and due <= elapsed < self.timeout:
                    before = thread_time()
                    with suppress(OSError, ValueError):  # the stream is closed
                        self.display.show(progress(self.universe) + self.running.observe(self.universe, elapsed))
                    # Updates take at most a fiftieth of a core (with many ranks), and half of the time of a slow terminal.
                    cpu, real = thread_time() - before, monotonic() - start - elapsed
                    due = elapsed + max(self.display.pause(elapsed), 50 * cpu, 2 * real)
                self._report_busy_waiting(elapsed)
            self._end()
        finally:
            release(self.observing)

    def _report_busy_waiting(self, elapsed: float) -> None:
        with suppress(AttributeError, OSError, ValueError):  # there is no stream, or it is closed
            report = self.busy_waiting.observe(self.universe, elapsed)
            if report:
                above = self.display.streams.get("stderr") if isinstance(self.display, LiveLine) else None
                (self.stream if above is None else above[0]).write(f"{report}\n")

    def _end(self) -> None:
        """End the run, and runs that its ranks have started; interrupt ranks that do not end."""
        universe, ending, reported = self.universe, [self.universe], False
        halt(universe, lambda: self._reason(frame_at(0)))
        if not self.ended.wait(REACTION_TIME):
            universe.decide(self._reason(current_frames().get(universe.driver)))
        while not self.ended.wait(ENDING_INTERVAL):
            inner = universe
            while (within := inner.inner) is not None:  # read once: the inner run may end at any moment
                inner = within
                if inner not in ending:
                    ending.append(inner)
                    inner.decide(Ended())
                    halt(inner, Ended)
            if not self.interrupter.observe(inner, monotonic()) and not reported:
                reported = True
                with suppress(AttributeError, OSError, ValueError):  # there is no stream, or it is closed
                    self.stream.write(f"fakempi: {str(self.error) or 'interrupted'}\n  {CANNOT_INTERRUPT}\n")

    def _reason(self, frame: FrameType | None) -> BaseException:
        """Return the reason for the end, with the positions of ranks at the first call, in this or in a rank's thread."""
        with self.lock:
            if self.error is None:
                self.error = timeout_error(self.universe, self.timeout, frame, self.part)
            return self.error
