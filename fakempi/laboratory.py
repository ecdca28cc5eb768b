"""The emulator as a machine that algorithms are verified on: `collectives.verification.machine` says what is asked of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from collectives.verification.machine import Failure, Message, Outcome, Setting
from fakempi import MPI
from fakempi.errors import DeadlockError, LivelockError, RankError, RunError
from fakempi.mpi.base.environment import compute
from fakempi.wire.models.hockney import Hockney
from fakempi.world import run

PATIENCE = 10.0
"""Seconds of computing for a run of some dozens of ranks, which takes milliseconds: whoever needs more does not end."""

ASLEEP = 6
"""How many times as long a run may take that does not compute: it sleeps, or others use the processor."""


class TimeIsUp(BaseException):
    """Raised by a run that takes too long."""


class Watch(threading.Thread):
    """Ends a run that takes longer than it may.

    One for thousands of runs of a few ranks: `run(timeout=...)` starts a thread for each, which would double their time.
    """

    def __init__(self, patience: float) -> None:
        super().__init__(name="fakempi laboratory", daemon=True)
        self.patience, self.over = patience, threading.Event()
        self.since = 0.0, 0.0  # when the run began that is going on
        self.going: tuple[Any, float, float] | None = None  # what ends it, once a rank has begun, and since when it goes on

    def run(self) -> None:
        """The thread: look every now and then."""
        while not self.over.wait(self.patience / 10):
            going = self.going
            if going is not None and self._too_long(*going[1:]):
                going[0].end(TimeIsUp())  # which does nothing if the run has ended meanwhile

    def _too_long(self, computed: float, clock: float) -> bool:
        return time.process_time() - computed > self.patience or time.monotonic() - clock > ASLEEP * self.patience

    def begin(self) -> None:
        """A run begins."""
        self.since = time.process_time(), time.monotonic()

    def end(self) -> None:
        """It is over."""
        self.going = None


class Emulator:
    """Runs programs on virtual ranks. `with` starts a watch over runs that never end."""

    MPI = MPI

    def __init__(self, patience: float = PATIENCE) -> None:
        self.carriers: Sequence[str] = ("greenlets", "threads") if find_spec("greenlet") else ("threads",)
        self.patience = patience
        self.watch: Watch | None = None

    def __enter__(self) -> Emulator:
        self.watch = Watch(self.patience)
        self.watch.start()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.watch is not None:
            self.watch.over.set()
            self.watch.join()
            self.watch = None

    def compute(self, seconds: int) -> None:
        """Let the calling rank compute."""
        compute(seconds)

    def run(self, program: Callable[..., Any], p: int, q: int, setting: Setting, trace: bool = False) -> Outcome:
        """Call `program(comm)` on p ranks, or `program(inter, local, in_a)` on groups of p and q."""
        kept: list[Any] = []  # the handles, so that what lies in their mailboxes can be looked at afterwards

        def main(comm: Any) -> None:
            if self.watch is not None and self.watch.going is None:
                self.watch.going = comm._process.universe.interrupts, *self.watch.since
            handles = (comm,) if not q else joined(comm, p)
            kept.append(handles)
            program(*handles, *([] if not q else [comm.Get_rank() < p]))

        cost = Hockney(setting.t_s, setting.t_w, setting.eager_limit, compute_per_byte=setting.c)
        if self.watch is not None:
            self.watch.begin()
        try:
            done = run(main, p + q, cost=cost, carrier=setting.carrier or self.carriers[0], trace=trace)
        except RunError as error:
            return Outcome(transfers=messages(error.trace), failure=failure(error))
        except TimeIsUp:
            return Outcome(failure=Failure("endless", f"it was stopped after {self.patience:g} seconds of computing"))
        finally:
            if self.watch is not None:
                self.watch.end()
        counts, nbytes = zip(*done.sent, strict=True)
        return Outcome(done.time, counts, nbytes, list(left(kept)), messages(done.trace))


def joined(comm: Any, p: int) -> tuple[Any, Any]:
    """The intercommunicator between ranks 0 .. p-1 and the others, and the own group; free in modelled time."""
    in_a = comm.Get_rank() < p
    local = comm.Split(0 if in_a else 1, comm.Get_rank())
    return local.Create_intercomm(0, comm, p if in_a else 0), local


def failure(error: RunError) -> Failure:
    """What a run raised, as a record."""
    if isinstance(error, RankError):
        return Failure("error", str(error), error.rank, error.exception)
    kind = "livelock" if isinstance(error, LivelockError) else "deadlock" if isinstance(error, DeadlockError) else "error"
    return Failure(kind, str(error), error=None if kind != "error" else error)


def messages(trace: Any) -> list[Message]:
    """The transfers of a trace, if there is one."""
    return [Message(t.source, t.dest, t.nbytes, t.start, t.arrived) for t in trace.transfers] if trace else []


def left(kept: list[Any]) -> Iterator[str]:
    """What lies in the mailboxes of these handles when all is over."""
    sides = {id(side): side for handles in kept for handle in handles for side in (handle._side, handle._there)}
    for side in sides.values():
        for box in side.boxes:
            for envelope in box.envelopes() if box else ():
                yield f"a message of {envelope.nbytes} bytes to rank {box.owner} was never received"
            for _ in box.patterns() if box else ():
                yield f"rank {box.owner} has posted a receive that no message came for"
