"""While a script runs: where ranks are when somebody presses Ctrl-C, and a last resort if they do not end in time."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

from fakempi.mpi.evidence.waits import whereabouts
from fakempi.script import Program
from fakempi.threads.foreign import is_no_stranger
from fakempi.threads.raw import start_new_thread
from fakempi.view.numbers import seconds
from fakempi.watch.ending import may_end
from fakempi.watch.words import have_ended

TIMED_OUT = 124
INTERRUPTED = 130
PATIENCE = 10
"""Seconds for ranks to end after a time-out or Ctrl-C; a program that never ends when told to is killed then."""


class Interrupts:
    """Takes Ctrl-C while a script runs, and ends the process if its ranks do not end. A context manager around the run.

    Attributes
    ----------
    places : where ranks were when it was interrupted, in lines for people
    """

    def __init__(self, program: Program, nprocs: int, timeout: float | None) -> None:
        self.program, self.nprocs, self.timeout = program, nprocs, timeout
        self.places: list[str] = []
        self.handler: Any = None
        self.killer: threading.Timer | None = None
        self.over = threading.Event()

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self.handler = signal.signal(signal.SIGINT, self._interrupted)
        if self.timeout is not None and self.timeout + PATIENCE < threading.TIMEOUT_MAX:
            why = f"not done after {self.timeout:g} s"
            self.killer = threading.Timer(self.timeout + PATIENCE, self._kill, (sys.stderr, why, TIMED_OUT))
            self.killer.daemon = True
            is_no_stranger(self.killer)
            self.killer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.over.set()
        if self.killer is not None:
            self.killer.cancel()
        if self.handler is not None:
            signal.signal(signal.SIGINT, self.handler)

    def how_far(self) -> str:
        """What time it is, and how many ranks have ended."""
        universe, ended = self.program.universe, len(self.program.codes)
        if universe is None:
            return f", {have_ended(ended, self.nprocs)}"
        return f" at t = {seconds(universe.loop.now)}, {have_ended(ended, len(universe.processes))}"

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """The signal, in the main thread: before anything is unwound, see where ranks are.

        The run ends, whatever they make of it. If it is a rank that was interrupted, it is told where it is, as in a process
        of its own; not in the midst of what must be whole.
        """
        universe = self.program.universe
        if universe is None or universe.watch is None:
            raise KeyboardInterrupt
        if not self.places:
            self.places = whereabouts(universe, frame)
            start_new_thread(self._kill_later, (sys.stderr,))
        heard = may_end(frame)
        error = universe.watch.interrupt(KeyboardInterrupt(), heard)
        if heard:
            raise error or KeyboardInterrupt

    def _kill_later(self, stream: Any) -> None:
        if not self.over.wait(PATIENCE):
            self._kill(stream, "interrupted", INTERRUPTED)

    def _kill(self, stream: Any, why: str, code: int) -> None:
        with suppress(OSError, ValueError):  # nobody reads it
            stream.write(f"fakempi: {why}, and told to end in vain{self.how_far()}\n")
            stream.flush()
        os._exit(code)
