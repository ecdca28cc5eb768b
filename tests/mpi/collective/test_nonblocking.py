"""Nonblocking collectives: the same results, many at once, overlap in modeled time, tests, deadlocks."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI
from tests.helpers.leftovers import new_threads
from tests.helpers.runs import run
from tests.mpi.collective.calls import nonblocking, operations

EXACT = fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0)
"""Sums of these are exact in floating point."""


@pytest.mark.parametrize("p", [1, 2, 3, 6])
def test_each_gives_the_result_of_the_blocking_call(backend: Any, p: int) -> None:
    """In the same time, if the rank does nothing else."""

    def main(comm: Any, start: bool) -> Any:
        found = []
        for name, args, read in operations(comm, root=p - 1):
            if start:
                request = getattr(comm, nonblocking(name))(*args)
                assert type(request) is MPI.Request
                request.Wait()
                assert request == MPI.REQUEST_NULL
            else:
                getattr(comm, name)(*args)
            found.append((name, read(), MPI.Wtime()))
        return found

    started, called = (run(main, p, backend, args=(start,), cost=EXACT) for start in (True, False))
    assert started == called


def test_many_at_once_in_the_same_order(backend: Any) -> None:
    """All are pending before the first is completed, and they are completed in any order."""

    def main(comm: Any) -> Any:
        expected = []
        for name, args, read in operations(comm):
            getattr(comm, name)(*args)
            expected.append(read())
        calls = list(operations(comm))
        requests = [getattr(comm, nonblocking(name))(*args) for name, args, _ in calls]
        for i in np.random.default_rng(comm.rank).permutation(len(requests)):
            requests[i].Wait()
        return [read() for _, _, read in calls] == expected

    assert run(main, 5, backend) == [True] * 5


@pytest.mark.parametrize("seconds", [0.0, 1.0, 100.0, 5000.0])
def test_communication_overlaps_with_other_work_of_the_rank(backend: Any, seconds: float) -> None:
    """Together they take the longer of the two times, not the sum."""

    def blocking(comm: Any) -> None:
        comm.Allreduce(np.ones(100), np.zeros(100))

    def overlapping(comm: Any) -> Any:
        into = np.zeros(100)
        request = comm.Iallreduce(np.ones(100), into)
        fakempi.compute(seconds)
        request.Wait()
        return into[0], MPI.Wtime()

    doubling = {"allreduce": "recursive_doubling"}
    alone = fakempi.run(blocking, 8, cost=EXACT, backend=backend, algorithms=doubling).time
    assert alone == 3 * (8 + 400)
    result = fakempi.run(overlapping, 8, cost=EXACT, backend=backend, algorithms=doubling)
    assert result.returns == [(8.0, max(alone, seconds))] * 8


def test_two_at_once_share_the_ports() -> None:
    """Messages of one wait for those of the other: together they take the sum of both times."""

    def main(comm: Any, at_once: bool) -> Any:
        a, b = np.zeros(10), np.zeros(10)
        first = comm.Iallreduce(np.ones(10), a)
        if not at_once:
            first.Wait()
        second = comm.Iallreduce(np.ones(10), b)
        MPI.Request.Waitall([first, second])
        return MPI.Wtime()

    doubling = {"allreduce": "recursive_doubling"}
    together, apart = (run(main, 4, args=(at_once,), cost=EXACT, algorithms=doubling) for at_once in (True, False))
    assert together == apart == [2 * 2 * (8 + 40)] * 4


def test_a_rank_that_computes_does_not_hold_up_the_others() -> None:
    """Its part of the tree continues in the background: the last leaf has the data long before rank 1 is done."""

    def main(comm: Any) -> Any:
        data = np.full(1, comm.rank == 0, float)
        request = comm.Ibcast(data)
        if comm.rank in (1, 2):
            fakempi.compute(1000.0)
        request.Wait()
        return data[0], MPI.Wtime()

    found = run(main, 8, cost=EXACT)
    assert [value for value, _ in found] == [1.0] * 8
    assert max(time for _, time in found if time < 1000) == 3 * 12.0


def test_testing_in_a_loop_ends(backend: Any) -> None:
    """It costs no time beyond the work between the tests."""

    def main(comm: Any) -> Any:
        into, tests = np.zeros(10, int), 0
        request = comm.Iallgather(np.full(2, comm.rank), into)
        while not request.Test():
            tests += 1
            fakempi.compute(5.0)
        return into.tolist(), MPI.Wtime() - 5.0 * tests, request == MPI.REQUEST_NULL

    found = run(main, 5, backend, cost=EXACT)
    assert [each[0] for each in found] == [[0, 0, 1, 1, 2, 2, 3, 3, 4, 4]] * 5
    assert all(each[2] for each in found)
    assert max(abs(each[1]) for each in found) <= 5.0


def test_testing_without_work_in_between_ends_too(backend: Any) -> None:
    """Modeled time advances without other events."""

    def main(comm: Any) -> Any:
        request, count = comm.Ibarrier(), 0
        while not request.Test():
            count += 1
        return count < 1000, MPI.Wtime()

    assert run(main, 4, backend, cost=EXACT) == [(True, 16.0)] * 4


def test_mixed_with_messages_in_one_waitall(backend: Any) -> None:
    """In any order of completion."""

    def main(comm: Any) -> Any:
        left, right = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
        data, total, came = np.full(1, comm.rank), np.zeros(1, int), np.zeros(1, int)
        requests = [
            comm.Irecv(came, left),
            comm.Iallreduce(data, total),
            comm.Isend(data, right),
            comm.Ibarrier(),
            comm.irecv(source=left, tag=9),
            comm.isend("word", right, 9),
        ]
        return MPI.Request.waitall(requests)[4], int(came[0]), int(total[0]), all(not request for request in requests)

    assert run(main, 5, backend) == [("word", (rank - 1) % 5, 10, True) for rank in range(5)]


def test_any_and_some_of_several() -> None:
    """Waitany, Waitsome and their tests accept them like requests of messages."""

    def main(comm: Any) -> Any:
        slow, quick = np.zeros(1000), np.zeros(1)
        requests = [comm.Ibcast(slow), comm.Ibarrier()]
        first = MPI.Request.Waitany([comm.Iallreduce(np.ones(1), quick)])
        some: list[int] = []
        while len(some) < 2:
            some += MPI.Request.Waitsome(requests) or []
        return first, sorted(some), MPI.Request.Testany(requests), MPI.Request.Testall(requests), quick[0]

    assert run(main, 3, cost=EXACT) == [(0, [0, 1], (MPI.UNDEFINED, True), True, 3.0)] * 3


def test_the_status_of_a_collective_is_empty() -> None:
    """No rank sent a message."""

    def main(comm: Any) -> Any:
        status = MPI.Status()
        status.source, status.tag = 3, 4
        comm.Ibarrier().Wait(status)
        return status.source, status.tag, status.count, status.Is_cancelled()

    assert run(main, 2) == [(MPI.ANY_SOURCE, MPI.ANY_TAG, 0, False)] * 2


def test_a_request_may_be_dropped() -> None:
    """The operation continues, also after the communicator was freed, and after the rank's program has ended."""
    into = [np.zeros(1) for _ in range(4)]

    def main(comm: Any) -> None:
        other = comm.Dup()
        request = other.Iallreduce(np.ones(1), into[comm.rank])
        other.Free()
        if comm.rank % 2:
            request.Free()
        elif comm.rank:
            request.Wait()

    run(main, 4)
    assert [place[0] for place in into] == [4.0] * 4


def test_a_receive_buffer_changes_when_the_request_completes() -> None:
    """Not before, if the memory has holes; the holes are unchanged."""

    def main(comm: Any) -> Any:
        memory = np.arange(6, dtype="i") if comm.rank == 0 else np.full(6, -1, "i")
        spread = MPI.INT.Create_resized(0, 8).Commit()
        request = comm.Ibcast([memory, 3, spread])
        before = memory.tolist()
        request.Wait()
        return before, memory.tolist()

    assert run(main, 3)[2] == ([-1] * 6, [0, -1, 2, -1, 4, -1])


def test_a_rank_that_never_calls_is_named(backend: Any) -> None:
    """With the line where the others started, and the call in which they wait."""

    def main(comm: Any) -> None:
        if comm.rank != 2:
            comm.Ibarrier().Wait()

    with pytest.raises(fakempi.DeadlockError) as caught:
        run(main, 4, backend)
    line = main.__code__.co_firstlineno + 2
    assert str(caught.value).splitlines() == [
        "deadlock at t = 1e-06 s: 3 of 4 ranks are blocked, and nothing can wake them.",
        "  ranks 0-1 and 3: Wait(waits for rank 2) at "
        f"test_nonblocking.py:{line}, since t = 0; rank 2 has ended",
    ]


def test_a_request_without_a_wait_is_named_by_its_start() -> None:
    """All ranks have ended, so that is no deadlock."""

    def main(comm: Any) -> None:
        if comm.rank != 2:
            comm.Iallreduce(np.zeros(1), np.zeros(1))

    line = main.__code__.co_firstlineno + 2
    unfinished, unwaited = fakempi.run(main, 4).findings
    where = f"ranks 0-1 and 3: Iallreduce at test_nonblocking.py:{line}"
    assert str(unfinished) == f"collective-unfinished: {where}: rank 2 never called it"
    assert str(unwaited).startswith(f"missing-wait: {where}: ")


def test_polling_for_a_rank_that_never_calls_is_a_livelock() -> None:
    """It is detected at once."""

    def main(comm: Any) -> None:
        if comm.rank:
            request = comm.Ibarrier()
            while not request.Test():
                pass

    with pytest.raises(fakempi.LivelockError, match=r"2 of 3 ranks poll without success or are blocked"):
        run(main, 3)


def test_different_orders_of_starting_are_an_error() -> None:
    """MPI requires the same order on all ranks."""

    def main(comm: Any) -> None:
        first, second = (comm.Ibarrier, comm.Iallreduce)[:: 1 if comm.rank else -1]
        for start in first, second:
            start(*((np.ones(1), np.zeros(1)) if start == comm.Iallreduce else ()))

    text = r"calls Ibarrier at .* called Iallreduce at .*same collective calls in the same order"
    with pytest.raises(fakempi.RankError, match=text):
        run(main, 2)


def test_errors_are_raised_before_the_start() -> None:
    """No request is left over."""

    def main(comm: Any) -> Any:
        with pytest.raises(ValueError, match="Iallgather on rank 0: recvbuf holds blocks of 8 bytes, but sendbuf has 16"):
            comm.Iallgather(np.zeros(2), np.zeros(1))
        return True

    assert run(main, 1) == [True]


def test_threads_of_child_tasks_end() -> None:
    """One thread for each on the thread backend, and none is left."""
    before = threading.enumerate()

    def main(comm: Any) -> None:
        MPI.Request.Waitall([comm.Ibarrier() for _ in range(3)])

    run(main, 6, "threads")
    assert new_threads(before) == []
