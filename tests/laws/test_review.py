"""Bugs that readers of the code and newcomers found: each stays found."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI, CostModel, compute


def test_cleaning_up_may_compute_and_communicate(carrier: str) -> None:
    """A `finally` block that computes must not bring a run back to life that is over."""
    ended = []

    def main(comm: Any) -> None:
        half = comm.Split(comm.rank % 2)
        if comm.rank == 0:
            compute(1)  # all others have begun to wait by then
            raise ValueError("first")
        try:
            comm.recv(source=0)
        finally:
            compute(1)
            try:
                half.Dup()
            finally:
                ended.append(comm.rank)

    before = set(threading.enumerate())
    with pytest.raises(fakempi.RankError, match="first"):
        fakempi.run(main, 5, carrier=carrier)
    assert ended == [1, 2, 3, 4]
    assert set(threading.enumerate()) == before


def test_threads_that_cannot_be_started_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the error that says so, and without a hang."""
    start, count = threading.Thread.start, [0]

    def failing(self: threading.Thread) -> None:
        count[0] += 1
        if count[0] > 3:
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", failing)
    with pytest.raises((RuntimeError, fakempi.RankError), match="can't start new thread"):
        fakempi.run(lambda comm: comm.Barrier(), 8, carrier="threads")


def test_a_nonblocking_collective_lets_go_of_its_buffers(carrier: str) -> None:
    """As soon as it is over, and without the garbage collector."""
    alive = []

    class Buffer(np.ndarray):
        """An array that can be watched."""

    def main(comm: Any) -> int:
        watched = [np.zeros(9).view(Buffer)]
        seen = weakref.ref(watched[0])
        comm.Ibcast(watched[0]).Wait()
        watched.clear()
        alive.append(seen() is not None)
        return 0

    gc.disable()
    try:
        fakempi.run(main, 4, carrier=carrier)
    finally:
        gc.enable()
    assert not any(alive)


class Slow(CostModel):
    """Messages of rank 1 take a hundred times as long to arrive, and hold no port meanwhile."""

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
        """Ports are free at once."""
        return 0, 0, 100 if source == 1 else 1


def test_wildcards_see_arrivals_in_order_whatever_the_model(carrier: str) -> None:
    """Rank 1 sends first, rank 2 arrives first."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return [comm.recv(), comm.recv(), MPI.Wtime()]
        compute(5 * (comm.rank - 1))
        comm.send(comm.rank, 0)
        return None

    assert fakempi.run(main, 3, cost=Slow(), carrier=carrier).returns[0] == [2, 1, 100]


def test_a_request_may_be_named_twice(carrier: str) -> None:
    """It ends once."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            compute(1)
            comm.send("x", 1)
            return None
        request = comm.irecv(source=0)
        return MPI.Request.waitall([request, request])[0]

    assert fakempi.run(main, 2, carrier=carrier).returns[1] == "x"


def test_another_ranks_communicator_is_refused(carrier: str) -> None:
    """Ranks share globals here, which they do not on a real MPI."""
    kept = []

    def main(comm: Any) -> None:
        kept.append(comm)
        comm.Barrier()
        kept[-1].send(1, 0)
        comm.recv()

    words = r"^rank 0 failed with MPIError: send on rank 0: the communicator belongs to rank 2: was it kept in a global"
    with pytest.raises(fakempi.RankError, match=words):
        fakempi.run(main, 3, carrier=carrier)


def test_a_communicator_ends_with_its_run(carrier: str) -> None:
    """Whoever keeps it is told."""
    comm = fakempi.run(lambda comm: comm, 1, carrier=carrier).returns[0]
    with pytest.raises(MPI.Exception, match=r"the communicator belongs to a run that is over\.$"):
        comm.send(1, 0)


def test_waiting_for_a_clock_that_nobody_else_moves_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at the clock takes no time at first; when nothing else can happen, it does."""
    monkeypatch.setattr("fakempi.mpi.base.environment.GLANCES", 1000)

    def main(comm: Any) -> None:
        start = MPI.Wtime()
        while MPI.Wtime() - start < 1:
            pass

    assert 1 <= fakempi.run(main, 2).time < 1.001


def test_whoever_only_looks_at_the_clock_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does nothing else, however late it is."""
    monkeypatch.setattr("fakempi.mpi.base.environment.GLANCES", 100)
    monkeypatch.setattr("fakempi.mpi.evidence.polling.MOST", 2000)

    def main(comm: Any) -> None:
        while MPI.Wtime() >= 0:
            pass

    with pytest.raises(fakempi.LivelockError, match=r": 2,000 polls in a row found nothing.*\n.*Wtime\(\)"):
        fakempi.run(main, 2)


def test_a_coroutine_is_no_main() -> None:
    """Calling it would run nothing."""

    async def main(comm: Any) -> None:
        comm.Barrier()

    with pytest.raises(MPI.Exception, match=r"^run: calling main only makes a coroutine or generator, and runs nothing\.$"):
        fakempi.run(main, 2)


def test_the_report_of_a_rank_that_is_missing_from_a_call_is_quick_to_make() -> None:
    """All who wait share what was found out once; and a circle through a meeting is a circle."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.recv(source=1)
        else:
            comm.Barrier()

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 2048)
    assert len({id(want) for one in caught.value.stuck for want in one.wants}) <= 2
    assert caught.value.cycle == [0, 1]
