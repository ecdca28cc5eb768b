"""The emulator as the machine on which algorithms are verified; implements `collectives.verification.machine`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from collectives.verification.machine import RunFailure, RunMessage, RunOutcome, Setting
from fakempi import MPI
from fakempi.core.network.models.hockney import Hockney
from fakempi.core.world import run
from fakempi.errors import DeadlockError, LivelockError, RankError, RunError
from fakempi.errors.plurals import counted
from fakempi.mpi.base.environment import compute

CPU_LIMIT = 10.0
"""Limit of the CPU seconds of a run. A run of some dozens of ranks takes milliseconds, so a longer one may never end."""

WALL_CLOCK_FACTOR = 6
"""The wall-clock limit as a multiple of the CPU limit: a run may sleep, or share the processor with other processes."""


class TimeLimitReached(BaseException):
    """Raised by a run that takes too long."""


class Watchdog(threading.Thread):
    """A thread that ends a run which exceeds the time limit.

    One thread serves thousands of short runs: `run(timeout=...)` starts a thread for each run, which would double its time.
    """

    def __init__(self, limit: float) -> None:
        super().__init__(name="fakempi verification watchdog", daemon=True)
        self.limit, self.ended = limit, threading.Event()
        self.since = 0.0, 0.0  # CPU time and clock at the start of the current run
        self.current: tuple[Any, float, float] | None = None  # once a rank has started: ends the run; and `since`

    def run(self) -> None:
        """Check the time limit periodically."""
        while not self.ended.wait(self.limit / 10):
            current = self.current
            if current is not None:
                stop_requests, cpu, start = current
                waited = time.monotonic() - start > WALL_CLOCK_FACTOR * self.limit
                if waited or time.process_time() - cpu > self.limit:
                    stop_requests.stop(TimeLimitReached())  # no effect if the run has ended meanwhile

    def begin(self) -> None:
        """Start the time limit of a run."""
        self.since = time.process_time(), time.monotonic()

    def watch(self, universe: Any) -> None:
        """Watch the current run. Called by its ranks; the first call counts."""
        if self.current is None:
            self.current = universe.stop_requests, *self.since

    def end(self) -> None:
        """End the time limit of a run."""
        self.current = None


class Emulator:
    """Runs programs on virtual ranks. As a context manager, it interrupts runs that do not end."""

    MPI = MPI

    def __init__(self, limit: float = CPU_LIMIT) -> None:
        self.backends: Sequence[str] = ("greenlets", "threads") if find_spec("greenlet") else ("threads",)
        self.limit = limit
        self.watchdog: Watchdog | None = None

    def __enter__(self) -> Emulator:
        self.watchdog = Watchdog(self.limit)
        self.watchdog.start()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.watchdog is not None:
            self.watchdog.ended.set()
            self.watchdog.join()
            self.watchdog = None

    def compute(self, seconds: int) -> None:
        """Advance the clock of the calling rank."""
        compute(seconds)

    def run(self, program: Callable[..., Any], p: int, q: int, setting: Setting, trace: bool = False) -> RunOutcome:
        """Call `program(comm)` on p ranks, or `program(inter, local, in_a)` on groups of p and q."""
        kept: list[Any] = []  # communicators, whose mailboxes are inspected after the run

        def main(comm: Any) -> None:
            if self.watchdog is not None:
                self.watchdog.watch(comm._process.universe)
            handles = (comm,) if not q else joined(comm, p)
            kept.append(handles)
            program(*handles, *([] if not q else [comm.Get_rank() < p]))

        cost = Hockney(setting.t_s, setting.t_w, eager_limit=setting.eager_limit, compute_per_byte=setting.c)
        if self.watchdog is not None:
            self.watchdog.begin()
        try:
            backend: Any = setting.backend or self.backends[0]  # the type in `collectives` is str
            done = run(main, p + q, cost=cost, backend=backend, trace=trace)
        except TimeLimitReached:
            return RunOutcome(failure=RunFailure("timeout", f"stopped after {self.limit:g} seconds of CPU time"))
        except RunError as error:
            return RunOutcome(transfers=messages(error.trace), failure=failure(error))
        finally:
            if self.watchdog is not None:
                self.watchdog.end()
        counts, nbytes = zip(*done.sent, strict=True)
        return RunOutcome(done.time, counts, nbytes, list(unmatched(kept)), messages(done.trace))


def joined(comm: Any, p: int) -> tuple[Any, Any]:
    """Return the intercommunicator between ranks 0 .. p-1 and the others, and the local group; takes no modeled time."""
    in_a = comm.Get_rank() < p
    local = comm.Split(0 if in_a else 1, comm.Get_rank())
    return local.Create_intercomm(0, comm, p if in_a else 0), local


def failure(error: RunError) -> RunFailure:
    """Return the error of a run as a record."""
    if isinstance(error, RankError):
        return RunFailure("error", str(error), error.rank, error.exception)
    kind = "livelock" if isinstance(error, LivelockError) else "deadlock" if isinstance(error, DeadlockError) else "error"
    return RunFailure(kind, str(error), error=None if kind != "error" else error)


def messages(trace: Any) -> list[RunMessage]:
    """Return the transfers of a trace, or an empty list without a trace."""
    return [RunMessage(t.source, t.dest, t.nbytes, t.start, t.arrived) for t in trace.transfers] if trace else []


def unmatched(kept: list[Any]) -> Iterator[str]:
    """Yield a sentence for each unmatched message and receive in the mailboxes of some communicators."""
    sides = {id(side): side for handles in kept for handle in handles for side in (handle._side, handle._peer_side)}
    for side in sides.values():
        for box in side.boxes:
            for envelope in box.envelopes() if box else ():
                size = counted(envelope.nbytes, "byte")
                yield f"a message of {size} to rank {box.owner} was not received"
            for _ in box.receives() if box else ():
                yield f"a receive of rank {box.owner} matched no message"
