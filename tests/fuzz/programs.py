"""Random programs of ranks, threads, locks, queues, events and messages, and their outcomes.

A program may be wrong: most programs that take two locks or wait for a message deadlock. It must end, and in the same way on
both backends: with the same log and times, or with the same message.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from typing import Any, TypeAlias

from hypothesis import strategies as st

import fakempi
from fakempi import MPI

RANKS, THREADS, THINGS = 3, 3, 2
LIMIT = 600
"""Seconds of real time after which a program is considered to hang."""

Step: TypeAlias = tuple[Any, ...]

_thing = st.tuples(st.booleans(), st.integers(0, THINGS - 1))  # shared by all ranks, or private to the rank
_seconds = st.sampled_from([None, 0.5, 1, 2])
_simple = st.one_of(
    st.tuples(st.just("compute"), st.integers(0, 3)),
    st.tuples(st.just("put"), _thing),
    st.tuples(st.just("get"), _thing, _seconds),
    st.tuples(st.just("set"), _thing),
    st.tuples(st.just("wait"), _thing, _seconds),
    st.tuples(st.just("meet"), _seconds),
    st.tuples(st.sampled_from(["send", "ssend"]), st.integers(0, RANKS - 1), st.integers(0, 1)),
    st.tuples(st.just("recv"), st.sampled_from([MPI.ANY_SOURCE, *range(RANKS)]), st.integers(0, 1)),
    st.tuples(st.just("probe"), st.integers(0, 1)),
    st.tuples(st.sampled_from(["barrier", "ibarrier", "allreduce", "fail", "nested", "poll"])),
    st.tuples(st.sampled_from(["isend", "irecv"]), st.integers(0, RANKS - 1), st.integers(0, 1), st.booleans()),
    st.tuples(st.just("start"), st.integers(1, THREADS - 1)),
    st.tuples(st.just("join"), st.integers(1, THREADS - 1), _seconds),
)
_steps = st.recursive(
    st.lists(_simple, max_size=4),
    lambda inner: st.lists(
        _simple | st.tuples(st.sampled_from(["with", "with_r", "with_s", "with_c"]), _thing, _seconds, inner), max_size=4
    ),
    max_leaves=6,
)
programs = st.lists(st.lists(_steps, min_size=1, max_size=THREADS), min_size=1, max_size=RANKS)
"""By rank and thread; the first thread is the rank's main thread."""


class Things:
    """Objects that threads share."""

    def __init__(self) -> None:
        self.locks = [threading.Lock() for _ in range(THINGS)]
        self.rlocks = [threading.RLock() for _ in range(THINGS)]
        self.semaphores = [threading.Semaphore(2) for _ in range(THINGS)]
        self.conditions = [threading.Condition() for _ in range(THINGS)]
        self.queues = [queue.Queue(2), queue.SimpleQueue()]
        self.events = [threading.Event() for _ in range(THINGS)]
        self.barrier = threading.Barrier(2)


class Player:
    """Executes the program of a rank."""

    def __init__(self, comm: Any, parts: list[list[Step]], shared: Things) -> None:
        self.comm, self.parts, self.things = comm, parts, (Things(), shared)
        self.log: list[Any] = []
        self.threads: dict[int, threading.Thread] = {}

    def play(self, part: int, steps: list[Step]) -> None:
        """The steps of one thread; each is logged with its time when it ends."""
        for step in steps:
            result = getattr(self, f"do_{step[0]}")(part, *step[1:])
            self.log.append((part, step[0], result, MPI.Wtime()))

    def of(self, thing: tuple[bool, int], name: str) -> Any:
        """One of the shared objects."""
        return getattr(self.things[thing[0]], name)[thing[1]]

    def do_compute(self, part: int, seconds: int) -> None:
        """Advance the clock."""
        fakempi.compute(seconds)

    def do_put(self, part: int, thing: Any) -> None:
        """Put into a queue, which may be full."""
        self.of(thing, "queues").put((self.comm.rank, part))

    def do_get(self, part: int, thing: Any, seconds: Any) -> Any:
        """Get from a queue, which may be empty."""
        try:
            return self.of(thing, "queues").get(timeout=seconds)
        except queue.Empty:
            return "empty"

    def do_set(self, part: int, thing: Any) -> None:
        """Set an event."""
        self.of(thing, "events").set()

    def do_wait(self, part: int, thing: Any, seconds: Any) -> Any:
        """Wait for an event."""
        return self.of(thing, "events").wait(seconds)

    def do_meet(self, part: int, seconds: Any) -> Any:
        """Wait at a barrier with another thread of any rank."""
        try:
            return self.things[1].barrier.wait(seconds)
        except threading.BrokenBarrierError:
            return "broken"

    def do_send(self, part: int, dest: int, tag: int) -> None:
        """Send a message, if the rank exists."""
        self.comm.send(part, dest % self.comm.size, tag)

    def do_ssend(self, part: int, dest: int, tag: int) -> None:
        """Send in synchronous mode."""
        self.comm.ssend(part, dest % self.comm.size, tag)

    def do_recv(self, part: int, source: int, tag: int) -> Any:
        """Receive a message."""
        return self.comm.recv(source=source if source < 0 else source % self.comm.size, tag=tag)

    def do_probe(self, part: int, tag: int) -> Any:
        """Probe for a message."""
        return self.comm.iprobe(tag=tag)

    def do_barrier(self, part: int) -> None:
        """Call a barrier of all ranks, which some may not call."""
        self.comm.Barrier()

    def do_ibarrier(self, part: int) -> Any:
        """Call a nonblocking barrier."""
        request = self.comm.Ibarrier()
        return request.Test()

    def do_allreduce(self, part: int) -> Any:
        """Call an allreduce."""
        return self.comm.allreduce(part)

    def do_fail(self, part: int) -> None:
        """Raise in a rank, or end one of its threads."""
        raise SystemExit if part else ZeroDivisionError("on purpose")

    def do_nested(self, part: int) -> Any:
        """Start a nested run, which may fail."""
        try:
            return fakempi.run(lambda comm: comm.allreduce(1) // (1 - part), 2, backend="threads").returns
        except fakempi.RankError as error:
            return str(error)

    def do_poll(self, part: int) -> Any:
        """Poll for a message until a deadline."""
        end = MPI.Wtime() + 1e-4
        while MPI.Wtime() < end and not self.comm.Iprobe(tag=1):
            pass
        return self.comm.Iprobe(tag=1)

    def do_isend(self, part: int, dest: int, tag: int, wait: bool) -> Any:
        """Start a nonblocking send; wait for it or test it once."""
        request = self.comm.isend(part, dest % self.comm.size, tag)
        return request.wait() if wait else request.test()[0]

    def do_irecv(self, part: int, source: int, tag: int, wait: bool) -> Any:
        """Start a nonblocking receive in the same way."""
        request = self.comm.irecv(source=source % self.comm.size, tag=tag)
        return request.wait() if wait else request.test()

    def do_start(self, part: int, other: int) -> Any:
        """Start a thread that has not been started."""
        if other in self.threads or other >= len(self.parts):
            return "no"
        self.threads[other] = threading.Thread(target=self.play, args=(other, self.parts[other]), name=f"part {other}")
        self.threads[other].start()
        return None

    def do_join(self, part: int, other: int, seconds: Any) -> Any:
        """Join another thread that has been started."""
        if other == part or other not in self.threads:
            return "no"
        self.threads[other].join(seconds)
        return self.threads[other].is_alive()

    def inside(self, part: int, guard: Any, seconds: Any, inner: list[Step]) -> Any:
        """Execute steps while holding a lock."""
        if not (guard.acquire() if seconds is None else guard.acquire(timeout=seconds)):
            return "late"
        try:
            self.play(part, inner)
        finally:
            guard.release()
        return None

    def do_with(self, part: int, thing: Any, seconds: Any, inner: list[Step]) -> Any:
        """A lock."""
        return self.inside(part, self.of(thing, "locks"), seconds, inner)

    def do_with_r(self, part: int, thing: Any, seconds: Any, inner: list[Step]) -> Any:
        """A lock that its owner may take again."""
        return self.inside(part, self.of(thing, "rlocks"), seconds, inner)

    def do_with_s(self, part: int, thing: Any, seconds: Any, inner: list[Step]) -> Any:
        """A semaphore."""
        return self.inside(part, self.of(thing, "semaphores"), seconds, inner)

    def do_with_c(self, part: int, thing: Any, seconds: Any, inner: list[Step]) -> Any:
        """A condition: notify, then wait."""
        condition = self.of(thing, "conditions")
        with condition:
            self.play(part, inner)
            condition.notify_all()
            return condition.wait(1 if seconds is None else seconds)


def outcome(program: list[list[list[Step]]], backend: Any) -> Any:
    """The logs and clocks of all ranks, or the error message."""
    shared = Things()

    def main(comm: Any) -> Any:
        player = Player(comm, program[comm.rank], shared)
        player.play(0, program[comm.rank][0])
        return player.log

    try:
        run = fakempi.run(main, len(program), backend=backend, timeout=LIMIT)
    except fakempi.RunTimeoutError:
        raise
    except (fakempi.DeadlockError, fakempi.RankError) as error:
        return type(error).__name__, str(error)
    return run.returns, run.clocks, run.messages


def differences(program: list[list[list[Step]]], backends: tuple[str, ...]) -> Iterator[tuple[Any, Any]]:
    """Outcomes that differ from the first run on the first backend; each program runs twice."""
    first = outcome(program, backends[0])
    for backend in (*backends, *backends):
        other = outcome(program, backend)
        if other != first:
            yield first, other
