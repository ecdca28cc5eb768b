"""Regression tests for bugs that reviewers and new users found."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI, CostModel, compute


def test_cleanup_may_compute_and_communicate(backend: Any) -> None:
    """A `finally` block that computes must not restart a run that has ended."""
    ended = []

    def main(comm: Any) -> None:
        half = comm.Split(comm.rank % 2)
        if comm.rank == 0:
            compute(1)  # all others wait by then
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
        fakempi.run(main, 5, backend=backend)
    assert ended == [1, 2, 3, 4]
    assert set(threading.enumerate()) <= before


def test_threads_that_cannot_be_started_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the corresponding error, and without a hang."""
    start, count = threading.Thread.start, [0]

    def failing(self: threading.Thread) -> None:
        count[0] += 1
        if count[0] > 3:
            raise RuntimeError("can't start new thread")
        start(self)

    monkeypatch.setattr(threading.Thread, "start", failing)
    with pytest.raises((RuntimeError, fakempi.RankError), match="the system cannot start more threads after 3 of 8 ranks"):
        fakempi.run(lambda comm: comm.Barrier(), 8, backend="threads")


def test_a_nonblocking_collective_releases_its_buffers(backend: Any) -> None:
    """As soon as it completes, and without the garbage collector."""
    alive = []

    class Buffer(np.ndarray):
        """An array that can be weakly referenced."""

    def main(comm: Any) -> int:
        watched = [np.zeros(9).view(Buffer)]
        seen = weakref.ref(watched[0])
        comm.Ibcast(watched[0]).Wait()
        watched.clear()
        alive.append(seen() is not None)
        return 0

    gc.disable()
    try:
        fakempi.run(main, 4, backend=backend)
    finally:
        gc.enable()
    assert not any(alive)


class Slow(CostModel):
    """Messages of rank 1 take a hundred times longer to arrive, and hold no port meanwhile."""

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[float, float, float]:
        """Ports are free at once."""
        return 0, 0, 100 if source == 1 else 1


def test_wildcards_match_arrivals_in_order_for_any_model(backend: Any) -> None:
    """Rank 1 sends first, rank 2's message arrives first."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            return [comm.recv(), comm.recv(), MPI.Wtime()]
        compute(5 * (comm.rank - 1))
        comm.send(comm.rank, 0)
        return None

    assert fakempi.run(main, 3, cost=Slow(), backend=backend).returns[0] == [2, 1, 100]


def test_a_request_may_occur_twice_in_a_list(backend: Any) -> None:
    """It completes once."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            compute(1)
            comm.send("x", 1)
            return None
        request = comm.irecv(source=0)
        return MPI.Request.waitall([request, request])[0]

    assert fakempi.run(main, 2, backend=backend).returns[1] == "x"


def test_a_communicator_of_another_rank_is_rejected(backend: Any) -> None:
    """Ranks share globals here, unlike on a real MPI."""
    kept = []

    def main(comm: Any) -> None:
        kept.append(comm)
        comm.Barrier()
        kept[-1].send(1, 0)
        comm.recv()

    words = r"^rank 0 failed with MPIError: send on rank 0: the communicator belongs to rank 2: store it in a local"
    with pytest.raises(fakempi.RankError, match=words):
        fakempi.run(main, 3, backend=backend)


def test_a_communicator_ends_with_its_run(backend: Any) -> None:
    """Later calls raise an error."""
    comm = fakempi.run(lambda comm: comm, 1, backend=backend).returns[0]
    with pytest.raises(MPI.Exception, match=r"the communicator belongs to a run that has ended\.$"):
        comm.send(1, 0)


def test_waiting_for_a_clock_that_no_other_rank_advances_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading the clock takes no time at first; when nothing else can happen, it does."""
    monkeypatch.setattr("fakempi.mpi.base.environment.MAX_CLOCK_READS", 1000)

    def main(comm: Any) -> None:
        start = MPI.Wtime()
        while MPI.Wtime() - start < 1:
            pass

    assert 1 <= fakempi.run(main, 2).time < 1.001


def test_a_loop_that_only_reads_the_clock_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does nothing else, however late it is."""
    monkeypatch.setattr("fakempi.mpi.base.environment.MAX_CLOCK_READS", 100)
    monkeypatch.setattr("fakempi.mpi.diagnostics.polling.MAX_ROUNDS", 2000)

    def main(comm: Any) -> None:
        while MPI.Wtime() >= 0:
            pass

    with pytest.raises(fakempi.LivelockError, match=r": 2,000 polls in a row found nothing.*\n.*Wtime\(\)"):
        fakempi.run(main, 2)


def test_a_coroutine_function_is_rejected_as_main() -> None:
    """Calling it would run nothing."""

    async def main(comm: Any) -> None:
        comm.Barrier()

    message = r"^run: main must be a function, and main is a coroutine or generator function: a call of it runs nothing\.$"
    with pytest.raises(MPI.Exception, match=message):
        fakempi.run(main, 2)


def test_the_report_of_a_rank_that_is_missing_from_a_call_is_fast() -> None:
    """Waiting ranks share the result of the analysis; a cycle through a rendezvous is reported as a cycle."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.recv(source=1)
        else:
            comm.Barrier()

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 2048)
    assert len({id(want) for one in caught.value.blocked for want in one.events}) <= 2
    assert caught.value.cycle == [0, 1]
