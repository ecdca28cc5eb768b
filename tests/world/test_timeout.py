"""`run(timeout=...)`: whatever ranks are doing, it ends, says where they were, and leaves nothing behind."""

from __future__ import annotations

import gc
import pickle
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from time import monotonic, process_time, sleep
from typing import Any

import pytest

import fakempi
from fakempi import RunTimeout
from fakempi.kernel.threads import throw
from fakempi.threads.raw import acquire
from fakempi.watch import ending, watching
from fakempi.watch.ending import Knocks

HERE = "test_timeout.py"
SOON = 0.02


class Clock:
    """Stands still until a test says that the time begins to run, so that ranks are where they are expected to be.

    Then it is CPU time that counts: on a busy machine, a rank that gets none would be taken for one that does not hear.
    Real time runs only while a rank is where it takes no CPU time, and until it is given up.
    """

    def __init__(self) -> None:
        self.source: Callable[[], float] | None = None
        self.passed = self.began = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.passed if self.source is None else self.passed + self.source() - self.began

    def begin(self, source: Callable[[], float] = process_time) -> None:
        """Run, from now on, like that one."""
        if self.source is not source:
            self.passed, self.source, self.began = self(), source, source()


CLOCK = Clock()


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ranks get milliseconds to end, not seconds."""
    monkeypatch.setattr(ending, "GRACE", 0.05)
    monkeypatch.setattr(watching, "MOMENT", 0.02)
    monkeypatch.setattr(watching, "monotonic", CLOCK)
    leave = Knocks._leave

    def leave_and_take_time(*args: Any) -> None:
        leave(*args)
        CLOCK.begin()

    monkeypatch.setattr(Knocks, "_leave", leave_and_take_time)
    CLOCK.__init__()  # type: ignore[misc]
    before = threading.enumerate()
    yield
    left = [thread for thread in threading.enumerate() if thread not in before and thread.ident not in PARKED]
    for thread in left:
        thread.join(60)
    assert [thread for thread in left if thread.is_alive()] == []


PARKED: set[int | None] = set()
"""Threads of ranks that catch everything: these are left where they stand."""


def in_main(call: Callable[[], Any]) -> Any:
    """Call it here."""
    return call()


def in_another(call: Callable[[], Any]) -> Any:
    """Call it in a thread that gets no signals."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


anywhere = pytest.mark.parametrize("where", [in_main, in_another])


def timed_out(main: Callable[..., Any], nprocs: int, carrier: str, where: Any = in_main, **options: Any) -> RunTimeout:
    """The error of a run that takes too long; after it, the next one is as ever."""

    def call() -> RunTimeout:
        with pytest.raises(RunTimeout) as caught:
            fakempi.run(main, nprocs, carrier=carrier, timeout=SOON, **options)
        assert fakempi.run(lambda comm: comm.allreduce(comm.rank), 3, carrier=carrier).returns == [3, 3, 3]
        return caught.value

    error: RunTimeout = where(call)
    return error


def line_of(function: Callable[..., Any], further: int) -> str:
    """A line of a function, counted from its `def`."""
    return f"{HERE}:{function.__code__.co_firstlineno + further}"


def forever() -> None:
    """Compute, while the time runs."""
    CLOCK.begin()
    for _ in count():
        pass


def wait_for(lock: Any) -> None:
    """Wait outside of Python, while the time runs."""
    CLOCK.begin(monotonic)
    acquire(lock)


@anywhere
def test_a_rank_that_computes_for_ever_is_ended(carrier: str, where: Any) -> None:
    """The report has a line for each state."""
    log = []

    def main(comm: Any) -> None:
        try:
            if comm.rank == 2:
                forever()
            comm.recv(source=2)
        finally:
            log.append(comm.rank)

    error = timed_out(main, 5, carrier, where)
    text = str(error).splitlines()
    assert text[0] == "not done after 0.02 s, at t = 0 s: 0 of 5 ranks have ended."
    assert text[1] in [f"  rank 2: runs at {line_of(forever, step)}" for step in (3, 4)]
    assert text[2:] == [f"  ranks 0-1: recv(source=2, tag=ANY) at {line_of(main, 4)}, since t = 0", "  ranks 3-4: not begun"]
    assert (error.timeout, error.time, error.places) == (SOON, 0, [line.strip() for line in text[1:]])
    assert sorted(log) == [0, 1, 2]


@anywhere
def test_ranks_that_communicate_for_ever_are_ended(carrier: str, where: Any) -> None:
    """In the middle of their calls, of which each says where it is."""

    def main(comm: Any) -> None:
        comm.barrier()
        CLOCK.begin()
        while True:
            comm.sendrecv(0, 1 - comm.rank, source=1 - comm.rank)

    error = timed_out(main, 2, carrier, where)
    assert error.time > 0
    assert all(f"at {line_of(main, 4)}" in line for line in error.places[:1])
    assert any("runs at" in line for line in error.places)


def sends(comm: Any) -> None:
    """Only send, and wait for nothing."""
    CLOCK.begin()
    while True:
        comm.isend(0, 0)


def computes(comm: Any) -> None:
    """Only let modelled time pass."""
    CLOCK.begin()
    while True:
        fakempi.compute(1)


def polls(comm: Any) -> None:
    """Look for what never comes, and let time pass."""
    CLOCK.begin()
    while not comm.iprobe(tag=comm.rank):
        fakempi.compute(1)


def asks(comm: Any) -> None:
    """Call what neither waits nor takes time."""
    CLOCK.begin()
    while True:
        comm.Get_rank()


def collects(comm: Any) -> None:
    """Be busy in the background as well."""
    while True:
        request = comm.Ibarrier()
        forever() if comm.rank == 1 else request.wait()


@pytest.mark.parametrize("main", [sends, computes, polls, asks, collects])
@anywhere
def test_whatever_ranks_call_they_are_ended(carrier: str, where: Any, main: Any) -> None:
    """Each in its own way of never coming to an end."""
    assert str(timed_out(main, 3, carrier, where)).startswith("not done after 0.02 s, at t = ")


@anywhere
def test_a_rank_that_catches_everything_and_communicates_is_ended(carrier: str, where: Any) -> None:
    """Or rather left where it is: after a hundred refusals it never gets the baton again."""

    def main(comm: Any) -> None:
        PARKED.add(threading.get_ident())
        CLOCK.begin()
        while True:
            with suppress(BaseException):
                comm.sendrecv(0, 1 - comm.rank, source=1 - comm.rank)

    timed_out(main, 2, carrier, where)


@anywhere
def test_a_rank_that_catches_everything_and_computes_is_ended(carrier: str, where: Any) -> None:
    """It is told a few times, and then left where it stands; the others come to their ends."""
    log = []

    def main(comm: Any) -> None:
        try:
            if comm.rank == 1:
                PARKED.add(threading.get_ident())
                while True:
                    try:
                        forever()
                    except BaseException:
                        continue
            comm.recv(source=1)
        finally:
            log.append(comm.rank)

    timed_out(main, 2, carrier, where)
    assert log == [0]
    gc.collect()  # nor does it wake up then


@anywhere
def test_a_rank_that_does_not_come_to_an_end_at_its_end_is_ended(carrier: str, where: Any) -> None:
    """It has time for what is in its `finally`, and no more than that."""
    log = []

    def main(comm: Any) -> None:
        try:
            comm.recv(source=1) if comm.rank != 1 else forever()
        finally:
            log.append(comm.rank)
            forever()

    timed_out(main, 3, carrier, where)
    assert sorted(log) == [0, 1]


@pytest.mark.skipif(ending.SIGNAL is None, reason="nothing wakes a thread there")
def test_a_rank_in_a_call_that_waits_for_ever_is_ended() -> None:
    """In the main thread a signal wakes it."""
    pytest.importorskip("greenlet")
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals do not come here")
    lock = threading.Lock()
    lock.acquire()  # outside, so the run does not know who might release it

    def main(comm: Any) -> None:
        if comm.rank:
            wait_for(lock)
        comm.barrier()

    error = timed_out(main, 2, "greenlets")
    assert error.places[0] in [f"rank 1: runs at {line_of(wait_for, step)}" for step in (2, 3)]


@anywhere
def test_a_rank_on_a_thread_in_a_call_that_waits_for_ever_is_left_behind(where: Any) -> None:
    """And ends when the call returns."""
    lock, threads = threading.Lock(), []
    lock.acquire()

    def main(comm: Any) -> None:
        threads.append(threading.current_thread())
        if comm.rank:
            wait_for(lock)
        comm.barrier()

    timed_out(main, 2, "threads", where)
    assert [thread.is_alive() for thread in threads] == [False, True]
    lock.release()
    threads[1].join()


@anywhere
@pytest.mark.parametrize("kind", [threading.Lock, threading.RLock])
def test_a_rank_that_waits_for_a_lock_of_another_thread_is_ended(carrier: str, where: Any, kind: Any) -> None:
    """Though the run does not know who might release it."""
    lock, holds, over = kind(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            holds.set()
            over.wait()

    def main(comm: Any) -> None:
        CLOCK.begin(monotonic)
        with lock:
            pass

    holder = threading.Thread(target=hold)
    holder.start()
    holds.wait()
    try:
        timed_out(main, 2, carrier, where)
    finally:
        over.set()
        holder.join()
    assert lock.acquire(timeout=60)


def test_who_cannot_be_ended_is_told_of() -> None:
    """A rank that shares a thread with its caller, in a call that waits: the run ends when it does."""
    pytest.importorskip("greenlet")
    lock, said = threading.Lock(), threading.Event()
    lock.acquire()

    class Stream:
        def write(self, text: str) -> None:
            words.append(text)
            said.set()

    words: list[str] = []

    def main(comm: Any) -> None:
        if comm.rank:
            wait_for(lock)
        comm.barrier()

    def release() -> None:
        assert said.wait(300)
        lock.release()

    helper = threading.Thread(target=release)
    helper.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", Stream())
        error = timed_out(main, 2, "greenlets", in_another)
    helper.join()
    assert words == [f"fakempi: {error}\n  whoever runs is in a call that cannot be ended from outside\n"]


@pytest.mark.parametrize("inner_carrier", ["greenlets", "threads"])
@anywhere
def test_a_run_within_a_run_is_ended_with_it(carrier: str, inner_carrier: str, where: Any) -> None:
    """The rank that carries it out is ended like the others; all of them run their `finally`."""
    pytest.importorskip("greenlet")
    log = []

    def inner(comm: Any) -> None:
        try:
            forever() if comm.rank == 1 else comm.barrier()
        finally:
            log.append(("inner", comm.rank))

    def main(comm: Any) -> None:
        try:
            if comm.rank == 1:
                fakempi.run(inner, 2, carrier=inner_carrier)
            comm.barrier()
        finally:
            log.append(("outer", comm.rank))

    error = timed_out(main, 2, carrier, where)
    places = [line_of(main, 3), *(line_of(forever, step) for step in (3, 4))]  # or that of the rank within, on its thread
    assert error.places[0] in [f"rank 1: runs at {place}" for place in places]
    assert error.places[1] == f"rank 0: barrier(waits for rank 1) at {line_of(main, 4)}, since t = 0"
    assert sorted(log) == [("inner", 0), ("inner", 1), ("outer", 0), ("outer", 1)]


@anywhere
def test_a_run_within_a_run_has_its_own_time(carrier: str, where: Any) -> None:
    """The rank that carries it out may catch its error, and goes on."""

    def main(comm: Any) -> Any:
        if comm.rank == 1:
            with pytest.raises(RunTimeout, match=r"^not done after 0\.02 s, at t = 0 s: 0 of 2 ranks have ended\."):
                fakempi.run(lambda inner: forever(), 2, carrier=carrier, timeout=SOON)
        return comm.allreduce(comm.rank)

    assert where(lambda: fakempi.run(main, 3, carrier=carrier, timeout=60)).returns == [3, 3, 3]


def test_a_run_that_is_done_in_time_is_as_without(carrier: str) -> None:
    """And what was changed for it is put back."""

    def main(comm: Any) -> Any:
        return comm.allreduce(comm.rank), fakempi.MPI.Wtime()

    before = signal.getsignal(ending.SIGNAL) if ending.SIGNAL is not None else None
    plain = fakempi.run(main, 5, carrier=carrier)
    for timeout in (60, float("inf"), 1e300):
        timed = fakempi.run(main, 5, carrier=carrier, timeout=timeout)
        assert (timed.returns, timed.clocks, timed.messages) == (plain.returns, plain.clocks, plain.messages)
    assert before is None or signal.getsignal(ending.SIGNAL) == before  # type: ignore[arg-type]


def test_a_signal_that_is_not_ours_is_passed_on() -> None:
    """To whoever has asked for it."""
    if ending.SIGNAL is None:
        pytest.skip("no such signal")
    number: int = ending.SIGNAL
    came = []

    def main(comm: Any) -> None:
        comm.barrier()
        signal.raise_signal(number)

    before = signal.signal(number, lambda number, frame: came.append(number))
    try:
        fakempi.run(main, 2, timeout=60)
    finally:
        signal.signal(number, before)
    assert came == [number] * 2


def test_who_has_failed_before_is_to_blame(carrier: str) -> None:
    """Though it is another who does not end."""

    def main(comm: Any) -> None:
        if comm.rank == 1:
            raise ValueError("first")
        try:
            comm.recv(source=1)
        finally:
            forever()

    with pytest.raises(fakempi.RankError, match=r"^rank 1 failed with ValueError: first$"):
        fakempi.run(main, 2, carrier=carrier, timeout=SOON)


def test_a_deadlock_stays_one(carrier: str) -> None:
    """It was there before the time was up."""

    def main(comm: Any) -> None:
        try:
            comm.recv(source=1 - comm.rank)
        finally:
            forever()

    with pytest.raises(fakempi.DeadlockError, match=r"^deadlock at t = 0 s: 2 of 2 ranks wait"):
        fakempi.run(main, 2, carrier=carrier, timeout=SOON)


def test_the_error_is_one_of_ours_and_one_of_pythons(carrier: str) -> None:
    """It has the trace as far as it went, and goes to another process with all that it says."""

    def main(comm: Any) -> None:
        comm.barrier()
        forever()

    error = timed_out(main, 2, carrier, trace=True)
    assert isinstance(error, fakempi.RunError)
    assert isinstance(error, TimeoutError)
    assert len(error.trace.transfers) == 2
    error.trace = None
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.places, again.timeout) == (str(error), error.places, error.timeout)


def test_spawned_ranks_are_ended_and_counted(carrier: str) -> None:
    """By the names that they have in reports."""

    def main(comm: Any) -> None:
        comm.Spawn(lambda child: forever(), maxprocs=2)
        comm.barrier()

    text = str(timed_out(main, 1, carrier))
    assert "of 3 ranks have ended." in text or "of 3 ranks has ended." in text
    assert f"rank 0 of the group spawned at {line_of(main, 1)}: runs at" in text


def test_what_ranks_held_is_gone(carrier: str) -> None:
    """Once the caller lets go of the error."""

    class Held:
        """Something that a rank holds."""

    held = []

    def main(comm: Any) -> None:
        mine = Held()
        held.append(weakref.ref(mine))
        forever() if comm.rank == 1 else comm.barrier()

    timed_out(main, 2, carrier)
    gc.collect()
    assert [one() for one in held] == [None, None]


@pytest.mark.parametrize("timeout", [0, -1, 0.0, float("nan")])
def test_no_time_at_all_is_refused(timeout: Any) -> None:
    """Before anything runs."""
    with pytest.raises(ValueError, match=rf"^run: timeout must be a positive number of seconds, not {timeout}\.$"):
        fakempi.run(lambda comm: None, 2, timeout=timeout)


@pytest.mark.parametrize("timeout", ["60", True, [1], 1j])
def test_what_is_no_number_of_seconds_is_refused(timeout: Any) -> None:
    """In the same way."""
    with pytest.raises(TypeError, match=r"^run: timeout must be a number of seconds, not ") as caught:
        fakempi.run(lambda comm: None, 2, timeout=timeout)
    assert str(caught.value).endswith(f"not {timeout!r}.")


class Race:
    """A thread out of reach, which ends at the very moment at which it is given up: just before, or between two steps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
        self.lock, self.ident = threading.Lock(), 0
        self.lock.acquire()
        leave = Knocks._leave

        def ends_before(knocks: Any, universe: Any, task: Any) -> None:
            self.end(task.handle.ident)
            leave(knocks, universe, task)

        def ends_between(kind: Any, ident: int) -> None:
            if kind.__name__ == "Late":
                self.end(ident)
            throw(kind, ident)

        if moment == "before":
            monkeypatch.setattr(Knocks, "_leave", ends_before)
        else:
            monkeypatch.setattr(ending, "throw", ends_between)

    def wait(self) -> None:
        """In the thread: be where nothing reaches it."""
        self.ident = threading.get_ident()
        wait_for(self.lock)

    def end(self, ident: int) -> None:
        """Let it come to its end, while whoever gives it up stands still."""
        if ident == self.ident and self.lock.locked():
            self.lock.release()
            while ident in sys._current_frames():
                sleep(0)


@pytest.mark.parametrize("moment", ["before", "between"])
def test_a_rank_may_end_at_the_moment_at_which_it_is_left_behind(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """The baton is handed on once: by the rank, or by whoever has given it up."""
    race = Race(monkeypatch, moment)

    def main(comm: Any) -> None:
        if comm.rank == 1:
            with suppress(ending.Told):
                race.wait()
        else:
            comm.barrier()

    assert "rank 1: runs at " in str(timed_out(main, 3, "threads"))


@pytest.mark.parametrize("moment", ["before", "between"])
def test_so_may_a_thread_of_a_rank(monkeypatch: pytest.MonkeyPatch, carrier: str, moment: str) -> None:
    """On greenlets too: their thread gets the baton back once."""
    race = Race(monkeypatch, moment)

    def main(comm: Any) -> None:
        if comm.rank == 1:
            threading.Thread(target=race.wait).start()
        comm.barrier(), comm.recv()

    timed_out(main, 3, carrier)
