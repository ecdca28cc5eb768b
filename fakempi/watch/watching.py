"""A thread beside a run that looks at it now and then: to show how far it is, and to end it when its time is up."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack, suppress
from types import FrameType, TracebackType

from fakempi.kernel.loop import Ended
from fakempi.mpi.base.current import here
from fakempi.mpi.base.frames import current_frames
from fakempi.mpi.base.process import Universe
from fakempi.threads.raw import acquire, monotonic, release, start_new_thread
from fakempi.watch.ending import Knocks, halt
from fakempi.watch.lines import LiveLine, line_for
from fakempi.watch.words import Baton, how_far, took_too_long

MOMENT = 0.05
"""Seconds in which ranks that communicate come by and end by themselves; if nobody does, somebody computes."""

OFTEN = 0.01
"""Seconds between looks at a run that is to end."""

OUT_OF_REACH = "whoever runs is in a call that cannot be ended from outside"

_one_line = threading.Lock()
"""There is room for one line at a time: the first run that wants it has it."""


class Watch:
    """Looks after a run. A context manager around it, in the thread that carries it out.

    Its own thread is one that `threading` does not know, or it would be taken for a thread that a rank has started, if it is
    a rank that carries out this run.
    """

    def __init__(self, universe: Universe, timeout: float | None, progress: bool | str) -> None:
        self.universe = universe
        self.timeout = float("inf") if timeout is None else float(timeout)
        self.what = ""  # takes too long: the run, or something that it does
        self.stream = sys.stderr
        self.line = line_for(progress, self.stream)
        self.over, self.looks, self.lock = threading.Event(), threading.Lock(), threading.Lock()
        self.stir = threading.Event()  # set when there is something to do at once
        self.knocks, self.baton = Knocks(self.over), Baton()
        self.error: BaseException | None = None  # why it has to end
        self.leaving = False
        universe.watch = self

    def __enter__(self) -> None:
        if isinstance(self.line, LiveLine) and not _one_line.acquire(blocking=False):
            self.line = None
        with ExitStack() as undo:  # whatever comes between, Ctrl-C or a thread that cannot be started
            undo.callback(self._close_line)
            if self.line is not None:
                self.line.open()
            undo.callback(self.knocks.close)
            self.begin(True)
            undo.pop_all()

    def begin(self, here: bool) -> None:
        """Start the thread; `here`: this is the thread that carries out the run."""
        if here:
            self.knocks.open()
        acquire(self.looks)
        start_new_thread(self._look, ())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._join()
        finally:
            self._close_line()

    def _close_line(self) -> None:
        if self.line is not None:
            self.line.close()
            if isinstance(self.line, LiveLine):
                _one_line.release()

    def interrupt(self, error: BaseException, heard: bool) -> BaseException | None:
        """In the thread that carries out the run, by a signal at any moment, or in another: the run is to end now.

        Whatever its ranks make of that, this is why it has ended. `heard`: the one that runs is told so where it is. Returns
        what the run raises; None if it has ended, and may be in the midst of saying so to the other thread.
        """
        if self.leaving:
            return None
        if self.error is None:
            self.error = error
            self.universe.decide(error)
            if heard:
                self.knocks.give_grace()
            halt(self.universe, lambda: error)
            before, here.loop = here.loop, None  # a rank that is interrupted is not the one that takes this lock
            try:
                self.stir.set()
            finally:
                here.loop = before
        return error

    def _join(self) -> None:
        self.leaving = True
        while True:
            try:
                self.over.set()
                self.stir.set()
                acquire(self.looks)
                try:
                    return self.knocks.close()
                finally:
                    release(self.looks)
            except Ended:  # somebody knocked just before
                continue

    # -- in the thread of its own -------------------------------------------------------------------------------------

    def _look(self) -> None:
        here.loop = self.universe.loop  # it is part of the run
        start, elapsed, took = monotonic(), 0.0, 0.0
        try:
            while elapsed < self.timeout:
                pause = self.timeout - elapsed
                if self.line is not None:
                    pause = min(pause, max(self.line.pause(elapsed), 50 * took))  # with many ranks, a look takes its time
                self.stir.wait(min(pause, threading.TIMEOUT_MAX))
                if self.over.is_set():
                    return
                if self.error is not None:
                    break
                elapsed = monotonic() - start
                if self.line is not None and elapsed < self.timeout:
                    with suppress(OSError, ValueError):  # nobody reads it any more
                        self.line.show(how_far(self.universe) + self.baton.look(self.universe, elapsed))
                    took = monotonic() - start - elapsed
            self._end()
        finally:
            release(self.looks)

    def _end(self) -> None:
        """The time is up: see to it that everybody ends."""
        universe, ending, told = self.universe, [self.universe], False
        halt(universe, lambda: self._report(sys._getframe()))
        if not self.over.wait(MOMENT):
            universe.decide(self._report(current_frames().get(universe.driver)))
        while not self.over.wait(OFTEN):
            inner = universe
            while (within := inner.inner) is not None:  # looked at once: it may be over at any moment
                inner = within
                if inner not in ending:
                    ending.append(inner)
                    inner.decide(Ended())
                    halt(inner, Ended)
            if not self.knocks.look(inner, monotonic()) and not told:
                told = True
                with suppress(AttributeError, OSError, ValueError):  # there is none, or nobody reads it
                    self.stream.write(f"fakempi: {str(self.error) or 'interrupted'}\n  {OUT_OF_REACH}\n")

    def _report(self, frame: FrameType | None) -> BaseException:
        """Where ranks are: seen once, by whoever comes first, the one who ends the run or this thread."""
        with self.lock:
            if self.error is None:
                self.error = took_too_long(self.universe, self.timeout, frame, self.what)
            return self.error
