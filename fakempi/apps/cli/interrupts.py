"""Handle Ctrl-C, SIGTERM and the time limit of a running script; kill the process if its ranks do not end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
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
INTERRUPTED, TERMINATED = 130, 143  # 128 plus the number of the signal, as a shell reports it
GRACE_PERIOD = 10
"""Seconds for ranks to end after a timeout or Ctrl-C; then the process is killed."""


class Terminated(KeyboardInterrupt):
    """The process has received SIGTERM: from `kill`, `timeout`, a batch system or a server for continuous integration."""

    verb = "terminated"


def verb_and_code(interrupt: KeyboardInterrupt) -> tuple[str, int]:
    """Return what has ended a command in a word, and its exit code."""
    return (Terminated.verb, TERMINATED) if isinstance(interrupt, Terminated) else ("interrupted", INTERRUPTED)


class Interrupts:
    """A context manager around a run: handles Ctrl-C and SIGTERM, and kills the process if its ranks do not end.

    Attributes
    ----------
    places : the position of each rank at the interrupt, as lines of text
    verb, code : "interrupted" or "terminated", and the exit code
    """

    def __init__(self, program: Program, nprocs: int, timeout: float | None) -> None:
        self.program, self.nprocs, self.timeout = program, nprocs, timeout
        self.places: list[str] = []
        self.verb, self.code = "interrupted", INTERRUPTED
        self.handlers: dict[int, Any] = {}
        self.killer: threading.Timer | None = None
        self.ended = threading.Event()

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self.handlers[signal.SIGINT] = signal.signal(signal.SIGINT, self._interrupted)
            if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
                self.handlers[signal.SIGTERM] = signal.signal(signal.SIGTERM, TermHandler(self._terminated))
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
        for number, handler in self.handlers.items():
            signal.signal(number, handler)

    def progress(self) -> str:
        """Return the modeled time and the number of ranks that have ended."""
        universe, ended = self.program.universe, len(self.program.codes)
        if universe is None:
            return f", {ended_ranks(ended, self.nprocs)}"
        return f" at t = {seconds(universe.loop.now)}, {ended_ranks(ended, len(universe.processes))}"

    def _terminated(self, number: int, frame: FrameType | None) -> None:
        """Handle SIGTERM in the main thread."""
        if not self.places:
            self.verb, self.code = Terminated.verb, TERMINATED
        self._interrupted(number, frame)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal in the main thread: record the positions of all ranks before any stack is unwound.

        The run ends even if ranks catch the exception. If the signal interrupts a rank's code, KeyboardInterrupt is raised
        there, as in a real process, except inside critical sections of the emulator.
        """
        universe, kind = self.program.universe, Terminated if number == signal.SIGTERM else KeyboardInterrupt
        if universe is None or universe.monitor is None:
            raise kind
        if not self.places:
            self.places = rank_positions(universe, frame)
            start_new_thread(self._kill_later, (sys.stderr,))
        raised_here = may_interrupt(frame)
        error = universe.monitor.interrupt(kind(), raised_here)
        if raised_here:
            raise error or kind

    def _kill_later(self, stream: Any) -> None:
        if not self.ended.wait(GRACE_PERIOD):
            self._kill(stream, self.verb, self.code)

    def _kill(self, stream: Any, why: str, code: int) -> None:
        with suppress(OSError, ValueError):  # the stream is closed
            stream.write(
                f"fakempi: {why}, and killed because the ranks did not end within {GRACE_PERIOD} s{self.progress()}\n"
            )
            stream.flush()
        os._exit(code)


class TermHandler:
    """A handler of SIGTERM that programs see as the default action, which it replaces."""

    in_place_of = signal.SIG_DFL

    def __init__(self, handle: Callable[[int, FrameType | None], None]) -> None:
        self.handle = handle

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal."""
        self.handle(number, frame)


_set, _get = signal.signal, signal.getsignal  # not those that programs see
_masks = threading.local()  # of the thread that forks


def _before_fork() -> None:
    """Block SIGTERM: Python would lose one that arrives in the child before it has its own handlers."""
    if isinstance(_get(signal.SIGTERM), TermHandler):
        _masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def _after_fork(in_child: bool) -> None:
    """Restore the mask; a process that a rank has forked has the default action."""
    before, _masks.before = getattr(_masks, "before", None), None
    if before is not None:
        if in_child:
            _set(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=partial(_after_fork, False), after_in_child=partial(_after_fork, True)
    )


@contextmanager
def terminable() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM within the block, so that results up to then are printed."""

    def terminated(number: int, frame: FrameType | None) -> None:
        raise Terminated

    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, TermHandler(terminated))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
