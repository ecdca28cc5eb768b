"""Handle Ctrl-C and the time limit of a running script; kill the process if its ranks do not end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

from fakempi.extensions.monitoring.interruption import may_interrupt
from fakempi.extensions.monitoring.status import ended_ranks
from fakempi.extensions.threads.raw import start_new_thread
from fakempi.extensions.threads.unmanaged import managed
from fakempi.isolation import Program
from fakempi.mpi.diagnostics.waits import rank_positions
from fakempi.view.numbers import seconds

TIMED_OUT = 124
INTERRUPTED = 130
GRACE_PERIOD = 10
"""Seconds for ranks to end after a timeout or Ctrl-C; then the process is killed."""


class Interrupts:
    """A context manager around a run: handles Ctrl-C, and kills the process if its ranks do not end.

    Attributes
    ----------
    places : the position of each rank at the interrupt, as lines of text
    """

    def __init__(self, program: Program, nprocs: int, timeout: float | None) -> None:
        self.program, self.nprocs, self.timeout = program, nprocs, timeout
        self.places: list[str] = []
        self.handler: Any = None
        self.killer: threading.Timer | None = None
        self.ended = threading.Event()

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self.handler = signal.signal(signal.SIGINT, self._interrupted)
        if self.timeout is not None and self.timeout + GRACE_PERIOD < threading.TIMEOUT_MAX:
            why = f"not done after {self.timeout:g} s"
            self.killer = threading.Timer(self.timeout + GRACE_PERIOD, self._kill, (sys.stderr, why, TIMED_OUT))
            self.killer.daemon = True
            managed.add(self.killer)
            self.killer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.ended.set()
        if self.killer is not None:
            self.killer.cancel()
        if self.handler is not None:
            signal.signal(signal.SIGINT, self.handler)

    def progress(self) -> str:
        """Return the modeled time and the number of ranks that have ended."""
        universe, ended = self.program.universe, len(self.program.codes)
        if universe is None:
            return f", {ended_ranks(ended, self.nprocs)}"
        return f" at t = {seconds(universe.loop.now)}, {ended_ranks(ended, len(universe.processes))}"

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGINT in the main thread: record the positions of all ranks before any stack is unwound.

        The run ends even if ranks catch the exception. If the signal interrupts a rank's code, KeyboardInterrupt is raised
        there, as in a real process, except inside critical sections of the emulator.
        """
        universe = self.program.universe
        if universe is None or universe.monitor is None:
            raise KeyboardInterrupt
        if not self.places:
            self.places = rank_positions(universe, frame)
            start_new_thread(self._kill_later, (sys.stderr,))
        raised_here = may_interrupt(frame)
        error = universe.monitor.interrupt(KeyboardInterrupt(), raised_here)
        if raised_here:
            raise error or KeyboardInterrupt

    def _kill_later(self, stream: Any) -> None:
        if not self.ended.wait(GRACE_PERIOD):
            self._kill(stream, "interrupted", INTERRUPTED)

    def _kill(self, stream: Any, why: str, code: int) -> None:
        with suppress(OSError, ValueError):  # the stream is closed
            stream.write(
                f"fakempi: {why}, and killed because the ranks did not end within {GRACE_PERIOD} s{self.progress()}\n"
            )
            stream.flush()
        os._exit(code)
