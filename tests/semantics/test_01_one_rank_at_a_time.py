"""Rule 1: one rank runs at a time, the earliest one next, ties in booking order; runs are deterministic."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fakempi
from fakempi import MPI, Hockney, ZeroCost, compute, phantom

UNIT = Hockney(t_s=0, t_w=1)


@pytest.fixture
def shortest_switch_interval() -> Any:
    """Threads that Python would switch as often as possible, if more than one could run."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("shortest_switch_interval")
def test_exactly_one_rank_runs_at_a_time(backend: Any) -> None:
    """No rank sees another rank between its calls."""
    inside: list[int] = []

    def main(comm: Any) -> None:
        for round_ in range(4):
            inside.append(comm.rank)
            for _ in range(200):
                assert inside == [comm.rank]
            inside.remove(comm.rank)
            comm.sendrecv(round_, (comm.rank + 1) % comm.size, source=(comm.rank - 1) % comm.size)

    fakempi.run(main, 5, backend=backend)
    assert not inside


def test_a_rank_runs_until_it_has_to_wait(backend: Any) -> None:
    """Calls that need not wait do not switch ranks, however many there are."""
    log: list[str] = []

    def main(comm: Any) -> None:
        log.append(f"{comm.rank} starts")
        requests = [comm.isend(i, comm.rank) for i in range(3)]
        log.append(f"{comm.rank} has sent")
        MPI.Request.waitall(requests)
        log.append(f"{comm.rank} ends")

    fakempi.run(main, 3, cost=UNIT, backend=backend)
    starts = [f"{rank} {what}" for rank in range(3) for what in ("starts", "has sent")]
    assert log == [*starts, *(f"{rank} ends" for rank in range(3))]


def test_the_next_to_run_has_the_smallest_clock(backend: Any) -> None:
    """Whatever its rank."""
    log: list[tuple[float, int]] = []

    def main(comm: Any) -> None:
        for seconds in (5 - comm.rank, 2 * comm.rank + 1, 3):
            compute(seconds)
            log.append((MPI.Wtime(), comm.rank))

    fakempi.run(main, 4, backend=backend)
    assert [time for time, _ in log] == sorted(time for time, _ in log)
    assert log[:5] == [(2, 3), (3, 2), (4, 1), (5, 0), (6, 0)]


def test_ties_follow_booking_order(backend: Any) -> None:
    """All continue at 10; rank 2 has waited since 0, rank 1 since 4, rank 0 since 8."""
    log: list[int] = []

    def main(comm: Any) -> None:
        if comm.rank < 2:
            compute(8 - 4 * comm.rank)
        compute(10 - MPI.Wtime())
        log.append(comm.rank)

    fakempi.run(main, 3, backend=backend)
    assert log == [2, 1, 0]


def test_a_run_uses_neither_wall_clock_nor_random_numbers(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run without any clock and random source is the same run."""

    def main(comm: Any) -> list[int]:
        requests = [comm.isend(comm.rank, other) for other in range(comm.size)]
        found = [comm.recv(source=MPI.ANY_SOURCE) for _ in range(comm.size)]
        while not MPI.Request.Testall(requests):
            compute(1e-7)
        return found

    expected = fakempi.run(main, 4, backend=backend, trace=True)

    def never(*_: Any) -> Any:
        raise AssertionError("a clock or random source was used")

    for name in ("time.time", "time.monotonic", "time.perf_counter", "time.sleep", "random.random", "os.urandom"):
        monkeypatch.setattr(name, never)
    again = fakempi.run(main, 4, backend=backend, trace=True)
    monkeypatch.undo()
    assert again.returns == expected.returns
    assert again.trace is not None
    assert expected.trace is not None
    assert again.trace.transfers == expected.trace.transfers


PROGRAM = """
import sys
import fakempi
from fakempi import MPI, compute

def main(comm):
    half = comm.Split(comm.rank % 2, -comm.rank)
    requests = [half.isend(str(comm.rank) * i, other, tag=i) for i in range(3) for other in range(half.size)]
    compute(comm.rank % 3 * 1e-6)
    seen = [half.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG) for _ in range(3 * half.size)]
    MPI.Request.waitall(requests)
    return seen

run = fakempi.run(main, 9, trace=True, backend=sys.argv[1])
print(run.returns, run.clocks, *run.trace.transfers, sep="\\n")
"""


@pytest.mark.quick(1)
def test_the_same_program_gives_the_same_trace_byte_for_byte(backend: Any) -> None:
    """In other processes, where strings and addresses hash differently."""
    root = Path(fakempi.__file__).parents[1]
    texts = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        command = [sys.executable, "-c", PROGRAM, backend]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=270)
        texts.add(done.stdout)
    (text,) = texts
    assert text.count("Transfer(") == 3 * (5 * 5 + 4 * 4)


# -- polling ------------------------------------------------------------------------------------------------------

Poll = Callable[[Any, Any], bool]
POLLS: dict[str, Poll] = {
    "Test": lambda comm, request: bool(request.Test()),
    "test": lambda comm, request: bool(request.test()[0]),
    "Get_status": lambda comm, request: bool(request.Get_status()),
    "Testany": lambda comm, request: bool(MPI.Request.Testany([request])[1]),
    "Testall": lambda comm, request: bool(MPI.Request.Testall([request])),
    "Testsome": lambda comm, request: bool(MPI.Request.Testsome([request])),
    "Iprobe": lambda comm, request: bool(comm.Iprobe(source=1, tag=2)),
    "Improbe": lambda comm, request: comm.Improbe(source=1, tag=2) is not None,
}


@pytest.mark.parametrize("poll", POLLS.values(), ids=POLLS)
def test_a_polling_loop_ends_when_its_message_arrives(backend: Any, poll: Poll) -> None:
    """At that modeled time, after a few polls, and without computing in between."""
    polls = 0

    def main(comm: Any) -> float:
        nonlocal polls
        if comm.rank == 0:
            request = comm.Irecv(bytearray(10), source=1, tag=1)
            while not poll(comm, request):
                polls += 1
        else:
            compute(50)
            requests = [comm.Isend(bytearray(10), 0, tag=tag) for tag in (1, 2)]
            MPI.Request.Waitall(requests)
        return MPI.Wtime()

    found = fakempi.run(main, 2, cost=UNIT, backend=backend).returns[0]
    assert found in (60, 70)
    assert 0 < polls < 10


@pytest.mark.parametrize("poll", POLLS.values(), ids=POLLS)
def test_a_poll_finds_a_message_in_transit_when_it_arrives(backend: Any, poll: Poll) -> None:
    """Although no other rank is left: its sender has ended without waiting."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            request = comm.Irecv(bytearray(10), source=1, tag=1)
            while not poll(comm, request):
                pass
        else:
            for tag in (1, 2):
                comm.Isend(bytes(10), 0, tag=tag)
        return MPI.Wtime()

    assert fakempi.run(main, 2, cost=UNIT, backend=backend).returns[0] in (10, 20)


def test_polling_for_a_send_ends_when_it_completes(backend: Any) -> None:
    """A single rank that sends to itself."""

    def main(comm: Any) -> float:
        request = comm.Isend(phantom(10), 0)
        while not request.Test():
            pass
        return MPI.Wtime()

    assert fakempi.run(main, 1, cost=UNIT, backend=backend).returns == [10]


def test_the_first_unsuccessful_poll_takes_no_time(backend: Any) -> None:
    """Others run, and it returns at the same time; the second one returns when time has advanced."""
    log: list[str] = []

    def main(comm: Any) -> None:
        if comm.rank == 0:
            for _ in range(2):
                assert not comm.Iprobe()
                log.append(f"polled at {MPI.Wtime():g}")
        else:
            log.append("ran")
            compute(7)

    fakempi.run(main, 2, backend=backend)
    assert log == ["ran", "polled at 0", "polled at 7"]


def test_testing_between_computations_costs_no_time(backend: Any) -> None:
    """The transfer and the computation overlap as if no test had been called."""

    def main(comm: Any) -> float:
        if comm.rank == 0:
            request = comm.Irecv(phantom(1000), source=1)
            for _ in range(10):
                compute(30)
                request.Test()
            request.Wait()
        else:
            comm.Send(phantom(1000), 0)
            compute(3)
        return MPI.Wtime()

    assert fakempi.run(main, 2, cost=UNIT, backend=backend).clocks == [1000, 1003]


def test_a_poll_sees_a_message_that_is_sent_while_it_yields(backend: Any) -> None:
    """Where transfers are free, the first poll that lets the sender run finds the message."""

    def main(comm: Any) -> bool:
        if comm.rank == 0:
            return bool(comm.Iprobe(source=1))
        comm.send("x", 0)
        return True

    assert fakempi.run(main, 2, cost=ZeroCost(), backend=backend).returns == [True, True]


def test_two_ranks_that_poll_for_each_other_both_end(backend: Any) -> None:
    """Each polls until the other's message has arrived, then sends."""

    def main(comm: Any) -> int:
        other = 1 - comm.rank
        if comm.rank == 0:
            comm.send("first", other)
        polls = 0
        for _ in range(20):
            while not comm.Iprobe(source=other):
                polls += 1
            comm.recv(source=other)
            comm.send("next", other)
        return polls

    assert max(fakempi.run(main, 2, backend=backend).returns) < 100


def test_endless_polling_is_a_livelock(backend: Any) -> None:
    """Nothing else can happen: reported like a deadlock."""

    def main(comm: Any) -> None:
        compute(3)
        while not comm.Iprobe(source=1 - comm.rank):
            pass

    with pytest.raises(fakempi.LivelockError) as caught:
        fakempi.run(main, 2, backend=backend)
    assert isinstance(caught.value, fakempi.DeadlockError)
    assert caught.value.time == 3


def test_polling_for_a_blocked_rank_is_a_livelock_too(backend: Any) -> None:
    """One rank polls, the other is blocked."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            request = comm.irecv(source=1)
            while not request.test()[0]:
                pass
        else:
            comm.recv(source=0)

    with pytest.raises(fakempi.LivelockError) as caught:
        fakempi.run(main, 2, backend=backend)
    assert [one.call for one in caught.value.blocked] == ["test", "recv"]


def test_a_poller_is_not_starved_while_others_compute(backend: Any) -> None:
    """As long as modeled time advances, messages may arrive."""

    def main(comm: Any) -> int:
        polls = 0
        if comm.rank == 0:
            while not comm.Iprobe():
                polls += 1
        else:
            for _ in range(1000):
                compute(1)
            comm.send("at last", 0)
        return polls

    assert fakempi.run(main, 2, backend=backend).returns[0] > 900


def test_a_livelock_of_more_ranks_than_the_agenda_cuts_off_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Detected after the same number of rounds as with two ranks."""
    monkeypatch.setattr("fakempi.core.kernel.agenda.COMPACT", 8)
    monkeypatch.setattr("fakempi.core.kernel.loop.COMPACT", 8)

    def main(comm: Any) -> None:
        while not comm.Iprobe():
            pass

    with pytest.raises(fakempi.LivelockError):
        fakempi.run(main, 20)
