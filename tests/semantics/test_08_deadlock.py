"""Rule 8: deadlocks are detected without timed out. tests/reports pins the text of the report."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import fakempi
from fakempi import MPI, Hockney, ZeroCost, compute, phantom
from tests.helpers.loops import for_each

Program = Callable[[Any], Any]
PARTNER = {0: 1, 1: 0}
BLOCKING: dict[str, Program] = {
    "Recv": lambda comm: comm.Recv(bytearray(1), PARTNER[comm.rank]),
    "recv": lambda comm: comm.recv(source=PARTNER[comm.rank]),
    "Ssend": lambda comm: comm.Ssend(b"x", PARTNER[comm.rank]),
    "ssend": lambda comm: comm.ssend("x", PARTNER[comm.rank]),
    "Probe": lambda comm: comm.Probe(PARTNER[comm.rank]),
    "Mprobe": lambda comm: comm.Mprobe(PARTNER[comm.rank]),
    "Wait": lambda comm: comm.Irecv(bytearray(1), PARTNER[comm.rank]).Wait(),
    "wait": lambda comm: comm.issend("x", PARTNER[comm.rank]).wait(),
    "Waitall": lambda comm: MPI.Request.Waitall([comm.irecv(source=PARTNER[comm.rank])]),
    "Waitany": lambda comm: MPI.Request.Waitany([comm.irecv(source=PARTNER[comm.rank])]),
    "Waitsome": lambda comm: MPI.Request.Waitsome([comm.irecv(source=PARTNER[comm.rank])]),
    "Sendrecv": lambda comm: comm.Sendrecv(b"x", PARTNER[comm.rank], 1, bytearray(1), PARTNER[comm.rank], 2),
}


@for_each("call", BLOCKING)
def test_every_call_that_blocks_endlessly_is_reported_by_its_name(backend: Any, call: str) -> None:
    """With rank, place and start time."""

    def main(comm: Any) -> None:
        compute(1)
        BLOCKING[call](comm)

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 2, cost=ZeroCost(eager_limit=0), backend=backend)
    assert type(caught.value) is fakempi.DeadlockError
    assert caught.value.time == 1
    assert [(one.rank, one.call) for one in caught.value.blocked] == [(0, call), (1, call)]
    assert {one.place.rpartition(":")[0] for one in caught.value.blocked} == {"test_08_deadlock.py"}
    assert [one.site for one in caught.value.blocked] == [one.place for one in caught.value.blocked], "the earlier name"


def test_a_deadlock_is_reported_when_it_occurs_and_not_before(backend: Any) -> None:
    """One rank computes for a long time, and its message would have resolved it."""

    def main(comm: Any, helps: bool) -> Any:
        if comm.rank == 0:
            return comm.recv(source=1)
        compute(1e9)
        if helps:
            comm.send("at last", 0)
        return None

    assert fakempi.run(main, 2, True, backend=backend).returns[0] == "at last"
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 2, False, backend=backend)
    assert caught.value.time == 1e9
    assert [one.since for one in caught.value.blocked] == [0]


def test_every_blocked_rank_is_in_the_records(backend: Any) -> None:
    """With its peer and tag as in the program, and the ranks that could wake it by their world ranks."""

    def main(comm: Any) -> None:
        if comm.rank == 3:
            return
        half = comm.Create_group(comm.group.Excl([3]))
        half.Recv(phantom(5), (half.rank + 1) % 3, tag=half.rank)

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 4, backend=backend)
    assert [one.rank for one in caught.value.blocked] == [0, 1, 2]
    wants = [one.events for one in caught.value.blocked]
    assert [(want.kind, want.peer, want.tag, want.awaits) for (want,) in wants] == [
        ("receive", 1, 0, (1,)),
        ("receive", 2, 1, (2,)),
        ("receive", 0, 2, (0,)),
    ]
    assert caught.value.cycle == [0, 1, 2]


def test_messages_in_transit_are_no_deadlock(backend: Any) -> None:
    """All ranks wait, and a transfer has not ended."""

    def main(comm: Any) -> float:
        comm.Sendrecv(phantom(1000), 1 - comm.rank, 0, phantom(1000), 1 - comm.rank)
        return MPI.Wtime()

    assert fakempi.run(main, 2, cost=Hockney(0, 1, eager_limit=0), backend=backend).returns == [1000, 1000]


def test_ranks_that_end_with_messages_unreceived_are_no_deadlock(backend: Any) -> None:
    """No rank waits."""

    def main(comm: Any) -> str:
        comm.isend("lost", 1 - comm.rank)
        comm.irecv(source=1 - comm.rank, tag=99)
        return "done"

    assert fakempi.run(main, 2, backend=backend).returns == ["done", "done"]


def test_a_deadlock_among_a_few_of_many(backend: Any) -> None:
    """The other ranks end as usual, and only blocked ranks are named."""
    ended = []

    def main(comm: Any) -> None:
        if comm.rank in (3, 5):
            comm.recv(source=8 - comm.rank)
        ended.append(comm.rank)

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 8, backend=backend)
    assert sorted(ended) == [0, 1, 2, 4, 6, 7]
    assert caught.value.cycle == [3, 5]


def test_blocked_ranks_are_unwound(backend: Any) -> None:
    """Their finally blocks run, in the order of ranks, and no thread is left."""
    before = threading.enumerate()
    log = []

    def main(comm: Any) -> None:
        try:
            comm.recv(source=comm.rank)
        finally:
            log.append(comm.rank)

    with pytest.raises(fakempi.DeadlockError):
        fakempi.run(main, 5, backend=backend)
    assert log == [0, 1, 2, 3, 4]
    assert set(threading.enumerate()) <= set(before)


def test_errors_during_unwinding_do_not_hide_the_deadlock(backend: Any) -> None:
    """The first error is reported."""

    def main(comm: Any) -> None:
        try:
            comm.recv(source=1 - comm.rank)
        finally:
            raise ValueError("in cleaning up")

    with pytest.raises(fakempi.DeadlockError, match="^deadlock at t = 0 s: 2 of 2 ranks are blocked"):
        fakempi.run(main, 2, backend=backend)


@pytest.mark.parametrize("ranks", [2, 60])
def test_a_deadlock_can_be_caught_and_the_next_run_works(backend: Any, ranks: int) -> None:
    """No state of it is left."""
    for _ in range(3):
        with pytest.raises(fakempi.DeadlockError):
            fakempi.run(lambda comm: comm.recv(source=comm.rank), ranks, backend=backend)
        assert fakempi.run(lambda comm: comm.rank, ranks, backend=backend).returns == list(range(ranks))


def test_a_rank_that_catches_the_end_gets_it_again(backend: Any) -> None:
    """At the next call that waits, sends or receives."""
    raised = []

    def main(comm: Any) -> None:
        for call in (comm.recv, comm.recv, lambda: comm.send(1, 0), comm.irecv, comm.Iprobe, lambda: comm.isend(1, 0)):
            try:
                call()
            except BaseException as error:
                raised.append(type(error).__name__)

    with pytest.raises(fakempi.DeadlockError):
        fakempi.run(main, 1, backend=backend)
    assert raised == ["Ended"] * 6
