"""Law 8: deadlock is a fact, not a time-out. The words of the report are pinned in tests/checks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import fakempi
from fakempi import MPI, Free, Hockney, compute, phantom

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


@pytest.mark.parametrize("call", BLOCKING)
def test_every_call_that_waits_for_ever_is_reported_by_its_name(carrier: str, call: str) -> None:
    """With rank, place, and since when."""

    def main(comm: Any) -> None:
        compute(1)
        BLOCKING[call](comm)

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 2, cost=Free(eager_limit=0), carrier=carrier)
    assert type(caught.value) is fakempi.DeadlockError
    assert caught.value.time == 1
    assert [(one.rank, one.call) for one in caught.value.stuck] == [(0, call), (1, call)]
    assert {one.site.rpartition(":")[0] for one in caught.value.stuck} == {"test_law_08_deadlock.py"}


def test_a_deadlock_is_reported_when_it_is_there_and_not_before(carrier: str) -> None:
    """One rank works on for a long time, and its message would have helped."""

    def main(comm: Any, helps: bool) -> Any:
        if comm.rank == 0:
            return comm.recv(source=1)
        compute(1e9)
        if helps:
            comm.send("at last", 0)
        return None

    assert fakempi.run(main, 2, True, carrier=carrier).returns[0] == "at last"
    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 2, False, carrier=carrier)
    assert caught.value.time == 1e9
    assert [one.since for one in caught.value.stuck] == [0]


def test_every_stuck_rank_is_in_the_records(carrier: str) -> None:
    """What it waits for: peer and tag as in the program, who could help as in the world."""

    def main(comm: Any) -> None:
        if comm.rank == 3:
            return
        half = comm.Create_group(comm.group.Excl([3]))
        half.Recv(phantom(5), (half.rank + 1) % 3, tag=half.rank)

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 4, carrier=carrier)
    assert [one.rank for one in caught.value.stuck] == [0, 1, 2]
    wants = [one.wants for one in caught.value.stuck]
    assert [(want.kind, want.peer, want.tag, want.awaits) for (want,) in wants] == [
        ("receive", 1, 0, (1,)),
        ("receive", 2, 1, (2,)),
        ("receive", 0, 2, (0,)),
    ]
    assert caught.value.cycle == [0, 1, 2]


def test_messages_on_their_way_are_no_deadlock(carrier: str) -> None:
    """All ranks wait, and a transfer is yet to end."""

    def main(comm: Any) -> float:
        comm.Sendrecv(phantom(1000), 1 - comm.rank, 0, phantom(1000), 1 - comm.rank)
        return MPI.Wtime()

    assert fakempi.run(main, 2, cost=Hockney(0, 1, eager_limit=0), carrier=carrier).returns == [1000, 1000]


def test_ranks_that_end_with_messages_unreceived_are_no_deadlock(carrier: str) -> None:
    """Nobody waits."""

    def main(comm: Any) -> str:
        comm.isend("lost", 1 - comm.rank)
        comm.irecv(source=1 - comm.rank, tag=99)
        return "done"

    assert fakempi.run(main, 2, carrier=carrier).returns == ["done", "done"]


def test_a_deadlock_among_a_few_of_many(carrier: str) -> None:
    """The others end as usual, and only the stuck are named."""
    ended = []

    def main(comm: Any) -> None:
        if comm.rank in (3, 5):
            comm.recv(source=8 - comm.rank)
        ended.append(comm.rank)

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 8, carrier=carrier)
    assert sorted(ended) == [0, 1, 2, 4, 6, 7]
    assert caught.value.cycle == [3, 5]


def test_stuck_ranks_are_unwound(carrier: str) -> None:
    """Their finally blocks run, in the order of ranks, and no thread is left."""
    before = threading.enumerate()
    log = []

    def main(comm: Any) -> None:
        try:
            comm.recv(source=comm.rank)
        finally:
            log.append(comm.rank)

    with pytest.raises(fakempi.DeadlockError):
        fakempi.run(main, 5, carrier=carrier)
    assert log == [0, 1, 2, 3, 4]
    assert threading.enumerate() == before


def test_what_goes_wrong_while_stuck_ranks_are_unwound_does_not_hide_the_deadlock(carrier: str) -> None:
    """The first trouble is the one to tell."""

    def main(comm: Any) -> None:
        try:
            comm.recv(source=1 - comm.rank)
        finally:
            raise ValueError("in cleaning up")

    with pytest.raises(fakempi.DeadlockError, match="^deadlock at t = 0 s: 2 of 2 ranks wait"):
        fakempi.run(main, 2, carrier=carrier)


@pytest.mark.parametrize("ranks", [2, 60])
def test_a_deadlock_can_be_caught_and_the_next_run_is_as_good_as_new(carrier: str, ranks: int) -> None:
    """Nothing of it is left."""
    for _ in range(3):
        with pytest.raises(fakempi.DeadlockError):
            fakempi.run(lambda comm: comm.recv(source=comm.rank), ranks, carrier=carrier)
        assert fakempi.run(lambda comm: comm.rank, ranks, carrier=carrier).returns == list(range(ranks))


def test_a_rank_that_catches_the_end_is_told_again(carrier: str) -> None:
    """At the next call that waits, sends or receives."""
    told = []

    def main(comm: Any) -> None:
        for call in (comm.recv, comm.recv, lambda: comm.send(1, 0), comm.irecv, comm.Iprobe, lambda: comm.isend(1, 0)):
            try:
                call()
            except BaseException as error:
                told.append(type(error).__name__)

    with pytest.raises(fakempi.DeadlockError):
        fakempi.run(main, 1, carrier=carrier)
    assert told == ["Ended"] * 6
