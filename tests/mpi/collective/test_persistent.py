"""Persistent collectives: prepared once, started repeatedly, in any order; each start uses the current data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from fakempi.mpi.base.call_matching import TAGS
from tests.helpers.runs import run
from tests.mpi.collective.calls import operations

EXACT = fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0)


@pytest.mark.quick(2)
@pytest.mark.parametrize("p", [1, 2, 3, 6])
def test_each_gives_the_result_of_the_blocking_call(backend: Any, p: int) -> None:
    """Each time it is started."""

    def main(comm: Any) -> Any:
        for (name, args, read), (_, again, expected) in zip(operations(comm), operations(comm), strict=True):
            request = getattr(comm, f"{name}_init")(*args, info=MPI.INFO_NULL)
            assert type(request) is MPI.Prequest
            getattr(comm, name)(*again)
            for _ in range(3):
                request.Start()
                request.Wait()
                assert read() == expected(), name
            request.Free()
            assert request == MPI.REQUEST_NULL
        return True

    assert run(main, p, backend) == [True] * p


def test_each_start_uses_the_current_data(backend: Any) -> None:
    """Also from and to memory with holes."""

    def main(comm: Any) -> Any:
        spread = MPI.INT.Create_resized(0, 8).Commit()
        data, room = np.full(4, -1, "i"), np.full(4 * comm.size, -1, "i")
        total, number = np.zeros(1, int), np.zeros(1, int)
        gather, add = comm.Allgather_init([data, 2, spread], [room, 2, spread]), comm.Allreduce_init(number, total)
        found = []
        for turn in range(3):
            data[::2], number[0] = 10 * turn + comm.rank, turn
            MPI.Prequest.Startall([gather, add])
            MPI.Request.Waitall([add, gather])
            found.append((room.tolist(), int(total[0])))
        return found

    def expected(turn: int) -> Any:
        return [each for rank in (0, 1) for _ in range(2) for each in (10 * turn + rank, -1)], 2 * turn

    assert run(main, 2, backend) == [[expected(turn) for turn in range(3)]] * 2


def test_an_inactive_request_is_complete() -> None:
    """Before it is started, and after it was completed."""

    def main(comm: Any) -> Any:
        request = comm.Barrier_init()
        states = [request.Test(), request.Wait(), bool(request)]
        request.Start()
        with pytest.raises(MPI.Exception, match=r"^Start on rank \d: the request is active"):
            request.Start()
        request.Wait()
        return [*states, request.Test(), bool(request)]

    assert run(main, 2) == [[True] * 5] * 2


def test_prepared_in_one_order_and_started_in_any(backend: Any) -> None:
    """MPI allows different orders of starts on different ranks."""

    def main(comm: Any) -> Any:
        places = [np.zeros(1) for _ in range(4)]
        requests = [comm.Allreduce_init(np.full(1, 10.0**i), place) for i, place in enumerate(places)]
        for _ in range(2):
            for request in requests if comm.rank % 2 else requests[::-1]:
                request.Start()
            for request in requests[comm.rank % 3 :] + requests[: comm.rank % 3]:
                request.Wait()
        return [place[0] for place in places]

    assert run(main, 5, backend) == [[5.0, 50.0, 500.0, 5000.0]] * 5


def test_other_collectives_may_run_in_between() -> None:
    """A persistent call is matched only when it is started, and does not affect other calls."""

    def main(comm: Any) -> Any:
        data = np.zeros(1)
        request = comm.Bcast_init(data)
        found = []
        for turn in range(3):
            data[0] = turn if comm.rank == 0 else -1
            if comm.rank == 1:
                request.Start()
            total = comm.allreduce(turn)
            if comm.rank != 1:
                request.Start()
            comm.Barrier()
            request.Wait()
            found.append((total, data[0]))
        return found

    assert run(main, 3) == [[(0, 0.0), (3, 1.0), (6, 2.0)]] * 3


def test_a_start_overlaps_with_other_work_of_the_rank() -> None:
    """Like a nonblocking call."""

    def main(comm: Any) -> Any:
        request = comm.Allreduce_init(np.ones(100), np.zeros(100))
        for _ in range(2):
            request.Start()
            fakempi.compute(2000.0)
            request.Wait()
        return MPI.Wtime()

    assert run(main, 8, cost=EXACT) == [4000.0] * 8


def test_it_outlives_the_handle_of_its_communicator() -> None:
    """The communicator is freed after pending and prepared operations."""

    def main(comm: Any) -> Any:
        other, total = comm.Dup(), np.zeros(1)
        request = other.Allreduce_init(np.ones(1), total)
        other.Free()
        request.Start()
        request.Wait()
        return total[0]

    assert run(main, 3) == [3.0] * 3


def test_mistakes_are_reported_at_the_init_call() -> None:
    """Not at the start."""

    def main(comm: Any) -> Any:
        with pytest.raises(MPI.Exception, match="^Bcast_init on rank 0: root 5 is not in 0..0.$"):
            comm.Bcast_init(np.zeros(1), 5)
        with pytest.raises(ValueError, match="^Allreduce_init on rank 0: sendbuf has 1 elements, but recvbuf 2.$"):
            comm.Allreduce_init(np.zeros(1), np.zeros(2))
        return True

    assert run(main, 1) == [True]


def test_all_ranks_must_prepare_the_same_call() -> None:
    """The error has both places."""

    def main(comm: Any) -> None:
        comm.Reduce_init(np.zeros(1), np.zeros(1), root=comm.rank)

    here = rf"\(test_persistent\.py:{main.__code__.co_firstlineno + 1}\)"
    words = rf"Reduce_init on rank 1: root=comm\.rank is 1 here {here} but 0 on rank 0 {here}: all ranks must agree\.$"
    with pytest.raises(fakempi.RankError, match=words):
        run(main, 2)


def test_reused_tags_do_not_match(backend: Any) -> None:
    """After a million calls an ordinary one has the number of the first prepared one."""

    def main(comm: Any) -> Any:
        a, b = np.zeros(1), np.zeros(1)
        prepared = comm.Allreduce_init(np.ones(1), a)
        comm._side.calls[comm.rank] = TAGS
        if comm.rank % 2:
            prepared.Start()
        other = comm.Iallreduce(np.full(1, 10.0), b)
        if not comm.rank % 2:
            prepared.Start()
        MPI.Request.Waitall([prepared, other])
        return a[0], b[0]

    assert run(main, 4, backend) == [(4.0, 40.0)] * 4


def test_a_persistent_call_that_cannot_end_is_named_by_its_start() -> None:
    """All ranks have ended, so this is no deadlock."""

    def main(comm: Any) -> None:
        request = comm.Barrier_init()
        if comm.rank:
            request.Start()

    line = main.__code__.co_firstlineno + 3
    unfinished, unwaited, unstarted = fakempi.run(main, 2).findings
    assert str(unfinished) == (
        f"collective-unfinished: rank 1: Barrier_init at test_persistent.py:{line}: rank 0 never started it equally often"
    )
    assert (unwaited.kind, unwaited.place, unwaited.ranks) == ("missing-wait", unfinished.place, (1,))
    assert (unstarted.kind, unstarted.ranks) == ("missing-start", (0,))


def test_a_rank_that_never_starts_it_causes_a_deadlock(backend: Any) -> None:
    """The report names the missing rank."""

    def main(comm: Any) -> None:
        request = comm.Barrier_init()
        for _ in range(2 if comm.rank == 2 else 3):
            request.Start()
            request.Wait()

    with pytest.raises(fakempi.DeadlockError, match=r"ranks 0-1 and 3: Wait\(waits for rank 2\) at .*; rank 2 has ended$"):
        run(main, 4, backend)
