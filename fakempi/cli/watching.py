"""While a script runs: a line that says how far it is, a time-out, and where ranks are when it is interrupted."""

from __future__ import annotations

import _thread
import os
import shutil
import signal
import sys
import threading
import time
from types import FrameType, TracebackType
from typing import Any

from fakempi.mpi.evidence.waits import whereabouts
from fakempi.script import Program
from fakempi.script.output import Input
from fakempi.view.numbers import seconds

TIMED_OUT = 124
PATIENCE = 10
"""Seconds for ranks to end after a time-out; a program that never ends when told to is killed then."""


class LiveLine:
    """One line on a terminal that is written over, and gives way to what the program writes."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.lock = threading.Lock()
        self.shown = self.asked = False
        self.text = ""

    def show(self, text: str) -> None:
        """Write over what was there; but if the program has asked somebody something, wait until it goes on."""
        with self.lock:
            if self.asked and self.text in ("", text):
                self.text = text
                return
            self.asked = False
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r\x1b[2K{text[:width]}")
            self.stream.flush()
            self.shown = True

    def clear(self) -> None:
        """Make room."""
        with self.lock:
            if self.shown:
                self.stream.write("\r\x1b[2K")
                self.stream.flush()
                self.shown = False

    def ask(self) -> None:
        """Make room for a question."""
        self.clear()
        self.asked, self.text = True, ""


class Above:
    """A stream on a terminal that has a live line below."""

    def __init__(self, stream: Any, line: LiveLine) -> None:
        self._stream, self._line = stream, line

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write in place of the live line."""
        self._line.clear()
        return int(self._stream.write(text))


class Watch(threading.Thread):
    """Looks after a run from a thread of its own, and takes Ctrl-C. A context manager around the run.

    Attributes
    ----------
    timed_out : whether the run was ended because it took too long
    places : where ranks were when it was interrupted, in lines for people
    """

    def __init__(self, program: Program, nprocs: int, timeout: float | None, live: bool) -> None:
        super().__init__(name="fakempi watch", daemon=True)
        self.program, self.nprocs, self.timeout = program, nprocs, timeout
        self.line = LiveLine(sys.stderr) if live and sys.stderr.isatty() else None
        self.timed_out = False
        self.places: list[str] = []
        self.over = threading.Event()
        self.streams, self.stdin = (sys.stdout, sys.stderr), sys.stdin
        self.handler: Any = None

    def __enter__(self) -> Watch:
        if threading.current_thread() is threading.main_thread():
            self.handler = signal.signal(signal.SIGINT, self._interrupted)
        if self.line is not None:
            sys.stdout, sys.stderr = (Above(stream, self.line) if stream.isatty() else stream for stream in self.streams)
            if self.stdin is not None and self.stdin.isatty():
                sys.stdin = Input(self.stdin, self.line.ask)  # which the line must not write over
        if self.line is not None or self.timeout is not None:
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.over.set()
        if self.is_alive():
            self.join()
        if self.line is not None:
            self.line.clear()
        sys.stdout, sys.stderr = self.streams
        sys.stdin = self.stdin
        if self.handler is not None:
            signal.signal(signal.SIGINT, self.handler)

    def run(self) -> None:
        """The thread: look every now and then."""
        start = time.monotonic()
        left = float("inf") if self.timeout is None else self.timeout
        while not self.over.wait(min(0.2, max(left, 0.001))):
            elapsed = time.monotonic() - start
            if self.timeout is not None and (left := self.timeout - elapsed) <= 0:
                self.timed_out = True
                self._end()
                return
            if self.line is not None and elapsed > 1:
                self.line.show(self._state())

    def _state(self) -> str:
        universe = self.program.universe
        if universe is None:
            return "starting"
        messages = sum(port.sent for port in universe.wire.out)
        return f"t = {seconds(universe.loop.now)}, {messages:,} messages, {self.ended()}"

    def ended(self) -> str:
        """How many ranks have ended, of all that there are, spawned ones among them."""
        universe, ended = self.program.universe, len(self.program.codes)
        there = self.nprocs if universe is None else len(universe.processes)
        return f"{ended:,} of {there:,} ranks {'has' if ended == 1 else 'have'} ended"

    def _end(self) -> None:
        """Interrupt the main thread until it listens."""
        for _ in range(PATIENCE):
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:
                _thread.interrupt_main()
            if self.over.wait(1):
                return
        for line in self.places:
            self.streams[1].write(f"  {line}\n")
        self.streams[1].flush()
        os._exit(TIMED_OUT)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """The signal, in the main thread: before anything is unwound, see where ranks are."""
        if not self.places and self.program.universe is not None:
            self.places = whereabouts(self.program.universe, frame)
        raise KeyboardInterrupt
