"""`run(timeout=...)`: the run ends for any state of its ranks, reports their places, and leaves nothing behind."""

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
from fakempi import RunTimeoutError
from fakempi.core.kernel.threads import throw
from fakempi.extensions.monitoring import interruption, monitor
from fakempi.extensions.monitoring.interruption import Interrupter
from fakempi.extensions.threads import raw
from tests.helpers.packages import needs

HERE = "test_timeout.py"
SOON = 0.02


class Clock:
    """A clock that stands still until a test starts it, so that ranks have reached the expected places.

    From then on it counts CPU time: on a busy machine, a rank without CPU time would look like one that does not react. Real
    time counts only while a rank is in a call without CPU time, and until it is given up.
    """

    def __init__(self) -> None:
        self.source: Callable[[], float] | None = None
        self.passed = self.began = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.passed if self.source is None else self.passed + self.source() - self.began

    def begin(self, source: Callable[[], float] = process_time) -> None:
        """Advance from now on like that clock."""
        if self.source is not source:
            self.passed, self.source, self.began = self(), source, source()


CLOCK = Clock()


@pytest.fixture(autouse=True)
def _short_grace(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give ranks milliseconds to end, not seconds."""
    monkeypatch.setattr(interruption, "GRACE", 0.05)
    monkeypatch.setattr(monitor, "REACTION_TIME", 0.02)
    monkeypatch.setattr(monitor, "monotonic", CLOCK)
    leave = Interrupter._abandon

    def end_slowly(*args: Any) -> None:
        leave(*args)
        CLOCK.begin()

    monkeypatch.setattr(Interrupter, "_abandon", end_slowly)
    CLOCK.__init__()  # type: ignore[misc]
    before = threading.enumerate()
    yield
    left = [thread for thread in threading.enumerate() if thread not in before and thread.ident not in PARKED]
    for thread in left:
        thread.join(60)
    assert [thread for thread in left if thread.is_alive()] == []


PARKED: set[int | None] = set()
"""Threads of ranks that catch every exception: these are given up."""


def in_main(call: Callable[[], Any]) -> Any:
    """Call it in this thread."""
    return call()


def in_another(call: Callable[[], Any]) -> Any:
    """Call it in a thread that receives no signals."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join()
    return found[0]


anywhere = pytest.mark.parametrize("where", [in_main, in_another])


def timed_out(main: Callable[..., Any], nprocs: int, backend: Any, where: Any = in_main, **options: Any) -> RunTimeoutError:
    """The error of a run that exceeds its limit; afterwards, another run works."""

    def call() -> RunTimeoutError:
        with pytest.raises(RunTimeoutError) as caught:
            fakempi.run(main, nprocs, backend=backend, timeout=SOON, **options)
        assert fakempi.run(lambda comm: comm.allreduce(comm.rank), 3, backend=backend).returns == [3, 3, 3]
        return caught.value

    error: RunTimeoutError = where(call)
    return error


def line_of(function: Callable[..., Any], further: int) -> str:
    """A line of a function, counted from its `def`."""
    return f"{HERE}:{function.__code__.co_firstlineno + further}"


def forever() -> None:
    """Compute, while the clock advances."""
    CLOCK.begin()
    for _ in count():
        pass


def wait_for(lock: Any) -> None:
    """Wait outside Python, while the clock advances."""
    CLOCK.begin(monotonic)
    raw.acquire(lock)


@anywhere
def test_a_rank_that_computes_endlessly_is_ended(backend: Any, where: Any) -> None:
    """The report has a line for each state."""
    log = []

    def main(comm: Any) -> None:
        try:
            if comm.rank == 2:
                forever()
            comm.recv(source=2)
        finally:
            log.append(comm.rank)

    error = timed_out(main, 5, backend, where)
    text = str(error).splitlines()
    assert text[0] == "not done after 0.02 s, at t = 0 s: 0 of 5 ranks have ended."
    assert text[1] in [f"  rank 2: runs at {line_of(forever, step)}" for step in (3, 4)]
    blocked = f"  ranks 0-1: recv(source=2, tag=ANY) at {line_of(main, 4)}, since t = 0"
    assert text[2:] == [blocked, "  ranks 3-4: not started"]
    assert (error.timeout, error.time, error.places) == (SOON, 0, [line.strip() for line in text[1:]])
    assert sorted(log) == [0, 1, 2]


@anywhere
def test_ranks_that_communicate_endlessly_are_ended(backend: Any, where: Any) -> None:
    """In the middle of their calls, which are reported."""

    def main(comm: Any) -> None:
        comm.barrier()
        CLOCK.begin()
        while True:
            comm.sendrecv(0, 1 - comm.rank, source=1 - comm.rank)

    error = timed_out(main, 2, backend, where)
    assert error.time > 0
    assert all(f"at {line_of(main, 4)}" in line for line in error.places[:1])
    assert any("runs at" in line for line in error.places)


def sends(comm: Any) -> None:
    """Only send, without waiting."""
    CLOCK.begin()
    while True:
        comm.isend(0, 0)


def computes(comm: Any) -> None:
    """Only let modeled time pass."""
    CLOCK.begin()
    while True:
        fakempi.compute(1)


def polls(comm: Any) -> None:
    """Probe for a message that never arrives, and let time pass."""
    CLOCK.begin()
    while not comm.iprobe(tag=comm.rank):
        fakempi.compute(1)


def makes_a_call(comm: Any) -> None:
    """Make a call that does not wait and takes no time."""
    CLOCK.begin()
    while True:
        comm.Get_rank()


def collects(comm: Any) -> None:
    """Use a nonblocking collective as well."""
    while True:
        request = comm.Ibarrier()
        forever() if comm.rank == 1 else request.wait()


@pytest.mark.quick(6)
@pytest.mark.parametrize("main", [sends, computes, polls, makes_a_call, collects])
@anywhere
def test_ranks_are_ended_in_any_call(backend: Any, where: Any, main: Any) -> None:
    """Each program is endless in another way."""
    assert str(timed_out(main, 3, backend, where)).startswith("not done after 0.02 s, at t = ")


@anywhere
def test_a_rank_that_catches_every_exception_and_communicates_is_ended(backend: Any, where: Any) -> None:
    """It is given up: after a hundred exceptions it never runs again."""

    def main(comm: Any) -> None:
        PARKED.add(threading.get_ident())
        CLOCK.begin()
        while True:
            with suppress(BaseException):
                comm.sendrecv(0, 1 - comm.rank, source=1 - comm.rank)

    timed_out(main, 2, backend, where)


@pytest.mark.quick(1)
@anywhere
def test_a_rank_that_catches_every_exception_and_computes_is_ended(backend: Any, where: Any) -> None:
    """It gets several exceptions, and is then given up; the others end normally."""
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

    timed_out(main, 2, backend, where)
    assert log == [0]
    gc.collect()  # it does not wake up then


@pytest.mark.quick(1)
@anywhere
def test_a_rank_that_does_not_end_in_its_cleanup_is_ended(backend: Any, where: Any) -> None:
    """It has a limited time for its `finally` block."""
    log = []

    def main(comm: Any) -> None:
        try:
            comm.recv(source=1) if comm.rank != 1 else forever()
        finally:
            log.append(comm.rank)
            forever()

    timed_out(main, 3, backend, where)
    assert sorted(log) == [0, 1]


@pytest.mark.skipif(interruption.SIGNAL is None, reason="nothing wakes a thread there")
def test_a_rank_in_an_endless_blocking_call_is_ended() -> None:
    """In the main thread a signal interrupts it."""
    needs("greenlet")
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals do not come here")
    lock = threading.Lock()
    lock.acquire()  # outside, so the run does not know which thread might release it

    def main(comm: Any) -> None:
        if comm.rank:
            wait_for(lock)
        comm.barrier()

    error = timed_out(main, 2, "greenlets")
    assert error.places[0] in [f"rank 1: runs at {line_of(wait_for, step)}" for step in (2, 3)]


@anywhere
def test_a_rank_on_a_thread_in_an_endless_blocking_call_is_given_up(where: Any) -> None:
    """Its thread ends when the call returns."""
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
def test_a_rank_that_waits_for_a_lock_of_another_thread_is_ended(backend: Any, where: Any, kind: Any) -> None:
    """The thread is outside of the run and may release the lock at any time."""
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
        timed_out(main, 2, backend, where)
    finally:
        over.set()
        holder.join()
    assert lock.acquire(timeout=60)


def test_a_rank_that_cannot_be_ended_is_reported() -> None:
    """A rank that shares a thread with its caller, in a blocking call: the run ends when the call does."""
    needs("greenlet")
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
    advice = "the running rank is in a call that cannot be interrupted; the run ends when the call returns"
    assert words == [f"fakempi: {error}\n  {advice}\n"]


@pytest.mark.parametrize("inner_backend", ["greenlets", "threads"])
@anywhere
def test_a_nested_run_is_ended_with_the_outer_one(backend: Any, inner_backend: Any, where: Any) -> None:
    """The rank that executes it is ended like the others; all of them run their `finally` blocks."""
    needs("greenlet")
    log = []

    def inner(comm: Any) -> None:
        try:
            forever() if comm.rank == 1 else comm.barrier()
        finally:
            log.append(("inner", comm.rank))

    def main(comm: Any) -> None:
        try:
            if comm.rank == 1:
                fakempi.run(inner, 2, backend=inner_backend)
            comm.barrier()
        finally:
            log.append(("outer", comm.rank))

    error = timed_out(main, 2, backend, where)
    places = [line_of(main, 3), *(line_of(forever, step) for step in (3, 4))]  # or that of the nested rank, on its thread
    assert error.places[0] in [f"rank 1: runs at {place}" for place in places]
    assert error.places[1] == f"rank 0: barrier(waits for rank 1) at {line_of(main, 4)}, since t = 0"
    assert sorted(log) == [("inner", 0), ("inner", 1), ("outer", 0), ("outer", 1)]


@anywhere
def test_a_nested_run_has_its_own_limit(backend: Any, where: Any) -> None:
    """The rank that executes it may catch the error, and continues."""

    def main(comm: Any) -> Any:
        if comm.rank == 1:
            with pytest.raises(RunTimeoutError, match=r"^not done after 0\.02 s, at t = 0 s: 0 of 2 ranks have ended\."):
                fakempi.run(lambda inner: forever(), 2, backend=backend, timeout=SOON)
        return comm.allreduce(comm.rank)

    assert where(lambda: fakempi.run(main, 3, backend=backend, timeout=60)).returns == [3, 3, 3]


def test_a_run_within_its_limit_is_unaffected(backend: Any) -> None:
    """Everything that was changed for it is restored."""

    def main(comm: Any) -> Any:
        return comm.allreduce(comm.rank), fakempi.MPI.Wtime()

    before = signal.getsignal(interruption.SIGNAL) if interruption.SIGNAL is not None else None
    plain = fakempi.run(main, 5, backend=backend)
    for timeout in (60, float("inf"), 1e300):
        timed = fakempi.run(main, 5, backend=backend, timeout=timeout)
        assert (timed.returns, timed.clocks, timed.messages) == (plain.returns, plain.clocks, plain.messages)
    assert before is None or signal.getsignal(interruption.SIGNAL) == before  # type: ignore[arg-type]


def test_other_signals_are_passed_on() -> None:
    """To their handlers."""
    if interruption.SIGNAL is None:
        pytest.skip("no such signal")
    number: int = interruption.SIGNAL
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


def test_an_earlier_failure_is_reported(backend: Any) -> None:
    """Although another rank does not end."""

    def main(comm: Any) -> None:
        if comm.rank == 1:
            raise ValueError("first")
        try:
            comm.recv(source=1)
        finally:
            forever()

    with pytest.raises(fakempi.RankError, match=r"^rank 1 failed with ValueError: first$"):
        fakempi.run(main, 2, backend=backend, timeout=SOON)


def test_a_deadlock_is_reported_as_a_deadlock(backend: Any) -> None:
    """It occurred before the limit."""

    def main(comm: Any) -> None:
        try:
            comm.recv(source=1 - comm.rank)
        finally:
            forever()

    with pytest.raises(fakempi.DeadlockError, match=r"^deadlock at t = 0 s: 2 of 2 ranks are blocked"):
        fakempi.run(main, 2, backend=backend, timeout=SOON)


def test_the_error_has_a_class_of_fakempi_and_one_of_python(backend: Any) -> None:
    """It has the trace up to that time, and can be pickled with all attributes."""

    def main(comm: Any) -> None:
        comm.barrier()
        forever()

    error = timed_out(main, 2, backend, trace=True)
    assert isinstance(error, fakempi.RunError)
    assert isinstance(error, TimeoutError)
    assert error.trace is not None
    assert len(error.trace.transfers) == 2
    error.trace = None
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.places, again.timeout) == (str(error), error.places, error.timeout)


def test_tblib_can_make_the_error() -> None:
    """Dask pickles exceptions with it. It calls `__new__` of the class, which was that of RuntimeError: TypeError."""
    again = fakempi.RunTimeoutError.__new__(fakempi.RunTimeoutError)
    assert isinstance(again, fakempi.RunError)
    assert isinstance(again, TimeoutError)


def test_spawned_ranks_are_ended_and_counted(backend: Any) -> None:
    """By the names that they have in reports."""

    def main(comm: Any) -> None:
        comm.Spawn(lambda child: forever(), maxprocs=2)
        comm.barrier()

    text = str(timed_out(main, 1, backend))
    assert "of 3 ranks have ended." in text or "of 3 ranks has ended." in text
    assert f"rank 0 of the group spawned at {line_of(main, 1)}: runs at" in text


def test_objects_of_ranks_are_freed(backend: Any) -> None:
    """As soon as the caller drops the error."""

    class HeldObject:
        """An object that a rank holds."""

    held = []

    def main(comm: Any) -> None:
        mine = HeldObject()
        held.append(weakref.ref(mine))
        forever() if comm.rank == 1 else comm.barrier()

    timed_out(main, 2, backend)
    gc.collect()
    assert [one() for one in held] == [None, None]


@pytest.mark.parametrize("timeout", [0, -1, 0.0, float("nan")])
def test_a_limit_of_zero_is_rejected(timeout: Any) -> None:
    """Before the run starts."""
    with pytest.raises(ValueError, match=rf"^run: timeout must be a positive number of seconds, not {timeout}\.$"):
        fakempi.run(lambda comm: None, 2, timeout=timeout)


@pytest.mark.parametrize("timeout", ["60", True, [1], 1j])
def test_a_limit_that_is_no_number_is_rejected(timeout: Any) -> None:
    """In the same way."""
    with pytest.raises(TypeError, match=r"^run: timeout must be a number of seconds, not ") as caught:
        fakempi.run(lambda comm: None, 2, timeout=timeout)
    assert str(caught.value).endswith(f"not {timeout!r}.")


class Race:
    """A thread that cannot be interrupted, which ends exactly when it is given up: just before, or between two steps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
        self.lock, self.ident = threading.Lock(), 0
        self.lock.acquire()
        leave = Interrupter._abandon

        def ends_before(knocks: Any, universe: Any, task: Any) -> None:
            self.end(task.handle.ident)
            leave(knocks, universe, task)

        def ends_between(kind: Any, ident: int) -> None:
            if kind.__name__ == "Late":
                self.end(ident)
            throw(kind, ident)

        if moment == "before":
            monkeypatch.setattr(Interrupter, "_abandon", ends_before)
        else:
            monkeypatch.setattr(interruption, "throw", ends_between)

    def wait(self) -> None:
        """In the thread: wait where nothing interrupts it."""
        self.ident = threading.get_ident()
        wait_for(self.lock)

    def end(self, ident: int) -> None:
        """Let it end, while the thread that gives it up waits."""
        if ident == self.ident and self.lock.locked():
            self.lock.release()
            while ident in sys._current_frames():
                sleep(0)


@pytest.mark.parametrize("moment", ["before", "between"])
def test_a_rank_may_end_exactly_when_it_is_given_up(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """Control task passed resumed once: by the rank, or by the thread that gives it."""
    race = Race(monkeypatch, moment)

    def main(comm: Any) -> None:
        if comm.rank == 1:
            with suppress(interruption.Interrupted):
                race.wait()
        else:
            comm.barrier()

    assert "rank 1: runs at " in str(timed_out(main, 3, "threads"))


@pytest.mark.parametrize("moment", ["before", "between"])
def test_a_thread_of_a_rank_may_end_when_it_is_given_up(monkeypatch: pytest.MonkeyPatch, backend: Any, moment: str) -> None:
    """On greenlets too: their thread gets control back once."""
    race = Race(monkeypatch, moment)

    def main(comm: Any) -> None:
        if comm.rank == 1:
            threading.Thread(target=race.wait).start()
        comm.barrier(), comm.recv()

    timed_out(main, 3, backend)
