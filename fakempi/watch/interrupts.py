"""Ctrl-C while `fakempi.run` goes on: it ends the run as a time limit does, and `run` raises KeyboardInterrupt.

Python raises KeyboardInterrupt wherever the main thread is. If ranks are greenlets, that is any of them, also in the middle
of a switch, and a rank that catches the exception goes on without the message that its call was about. So the run takes the
signal itself if Python's own handler is installed: it notes why it ends, and raises the exception only where a rank may end.
"""

from __future__ import annotations

import threading
from _signal import (  # type: ignore[import-not-found]  # the functions of `signal` look up an enum each time
    SIGINT,
    default_int_handler,
    getsignal,
    signal,
)
from types import FrameType, TracebackType
from typing import Any

from fakempi.mpi.base.process import Universe
from fakempi.threads.raw import acquire, allocate_lock, get_ident, release
from fakempi.watch.ending import may_end
from fakempi.watch.watching import Watch


class Interrupts:
    """Ends a run on request. A context manager around it, in the thread that carries it out."""

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self.lock = allocate_lock()  # around making a watch, and the end of the run
        self.watch: Watch | None = None  # of this run, if it was made here
        self.over = self.catches = self.pressed = False
        universe.interrupts = self

    def __enter__(self) -> None:
        if get_ident() == threading.main_thread().ident and getsignal(SIGINT) is default_int_handler:
            self.catches = True
            signal(SIGINT, self._interrupted)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        acquire(self.lock)
        self.over = True
        release(self.lock)
        if self.watch is not None:
            self.watch.__exit__(kind, error, trace)
        if self.catches:
            signal(SIGINT, default_int_handler)
            if self.pressed and not isinstance(error, KeyboardInterrupt):  # it was over, or had another reason to end
                raise KeyboardInterrupt

    def end(self, error: BaseException) -> None:
        """From another thread: the run ends now if it has not ended, and raises this."""
        acquire(self.lock)
        try:
            if not self.over:
                self._watch(False).interrupt(error, False)
        finally:
            release(self.lock)

    def _watch(self, here: bool) -> Any:
        """What looks after the run; `here`: this is the thread that carries it out."""
        if self.universe.watch is None:
            self.watch = Watch(self.universe, None, False)
            self.watch.begin(here)
        return self.universe.watch

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """The signal, in the main thread at any moment, also in the middle of this."""
        self.pressed = True
        if not acquire(self.lock, False):  # the run ends already
            return
        try:
            heard = may_end(frame)
            error = None if self.over else self._watch(True).interrupt(KeyboardInterrupt(), heard)
        finally:
            release(self.lock)
        if error is not None and heard:
            raise error
