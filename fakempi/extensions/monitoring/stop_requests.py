"""End a run on Ctrl-C, or when another thread requests it, in the same way as a time limit does.

By default Python raises KeyboardInterrupt at the current instruction of the main thread. If ranks are greenlets, this may be
in any rank, also in the middle of a switch, and a rank that catches the exception continues without the message that its
call was about. So a run handles SIGINT itself, unless the program has installed a handler. The run records why it ends, and
raises the exception in a rank only where the rank may be interrupted. `run` raises KeyboardInterrupt.
"""

from __future__ import annotations

import threading
from _signal import (  # type: ignore[import-not-found]  # absent from typeshed; `signal` creates an enum at every call
    SIGINT,
    default_int_handler,
    getsignal,
    signal,
)
from types import FrameType, TracebackType
from typing import Any

from fakempi.extensions.monitoring.interruption import may_interrupt
from fakempi.extensions.monitoring.monitor import Monitor
from fakempi.extensions.threads.raw import acquire, allocate_lock, get_ident, release
from fakempi.mpi.base.process import Universe


class StopRequests:
    """Ends a run on request. A context manager around the run, in the thread that drives it."""

    def __init__(self, universe: Universe) -> None:
        self.universe = universe
        self.lock = allocate_lock()  # held while a monitor is created, and while the end of the run is recorded
        self.monitor: Monitor | None = None  # the monitor of this run, if it was created here
        self.has_ended = self.has_handler = self.pressed = False
        universe.stop_requests = self

    def __enter__(self) -> None:
        if get_ident() == threading.main_thread().ident and getsignal(SIGINT) is default_int_handler:
            self.has_handler = True
            signal(SIGINT, self._interrupted)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        acquire(self.lock)
        self.has_ended = True
        release(self.lock)
        if self.monitor is not None:
            self.monitor.__exit__(kind, error, trace)
        if self.has_handler:
            signal(SIGINT, default_int_handler)
            if self.pressed and not isinstance(error, KeyboardInterrupt):  # the run had ended, or ends for another reason
                raise KeyboardInterrupt

    def stop(self, error: BaseException) -> None:
        """End the run, which then raises this error; do nothing if it has ended. Called in another thread."""
        acquire(self.lock)
        try:
            if not self.has_ended:
                self._monitor(False).interrupt(error, False)
        finally:
            release(self.lock)

    def _monitor(self, in_driver: bool) -> Any:
        """Return the monitor of the run; create one if the run has none."""
        if self.universe.monitor is None:
            self.monitor = Monitor(self.universe, None, False)
            self.monitor.begin(in_driver)
        return self.universe.monitor

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGINT in the main thread. It may arrive at any time, also while this method handles another one."""
        self.pressed = True
        if not acquire(self.lock, False):  # the run is already being ended
            return
        try:
            raises = may_interrupt(frame)
            error = None if self.has_ended else self._monitor(True).interrupt(KeyboardInterrupt(), raises)
        finally:
            release(self.lock)
        if error is not None and raises:
            raise error
