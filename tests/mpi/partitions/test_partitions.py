"""Partitioned communication: parts of a message travel as they become ready."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI


def test_partitions_go_in_the_order_in_which_they_are_ready(carrier: str) -> None:
    """Each takes a message's time, and the receiver sees which are there; again and again."""

    def main(comm: Any) -> Any:
        data = np.zeros(6)
        seen: list[Any] = []
        if comm.rank == 0:
            request = comm.Psend_init(data, 3, 1, 7)
            for number in range(2):
                request.Start()
                for partition in (2, 0, 1):
                    fakempi.compute(10)
                    data[2 * partition : 2 * partition + 2] = 10 * number + partition
                    request.Pready(partition)
                request.Wait()
                seen.append(bool(request))
            request.Free()
            return seen, bool(request)
        request = comm.Precv_init(data, 3, 0, 7)
        for _ in range(2):
            request.Start()
            fakempi.compute(15)
            seen.append([request.Parrived(partition) for partition in range(3)])
            request.Wait()
            seen.append(data.tolist())
        return seen

    done = fakempi.run(main, 2, carrier=carrier, cost=fakempi.Hockney(1, 0))
    early = [False, False, True]
    assert done.returns[0] == ([True, True], False)
    assert done.returns[1] == [early, [0, 0, 1, 1, 2, 2], early, [10, 10, 11, 11, 12, 12]]
    assert done.time == 62


@given(parts=st.tuples(st.integers(1, 6), st.integers(1, 6)), each=st.integers(1, 4), late=st.booleans())
def test_both_sides_may_cut_differently(parts: tuple[int, int], each: int, late: bool) -> None:
    """Nothing is lost, whoever comes first."""
    size = parts[0] * parts[1] * each

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            fakempi.compute(float(late))
            request = comm.Psend_init(np.arange(size), parts[0], 1)
            request.Start()
            request.Pready_range(0, parts[0] - 1)
            request.Wait()
            return None
        fakempi.compute(float(not late))
        data = np.zeros(size, int)
        request = comm.Precv_init(data, parts[1], 0, 0)
        request.Start()
        while not all(request.Parrived(number) for number in range(parts[1])):
            pass
        request.Wait()
        return data.tolist()

    assert fakempi.run(main, 2).returns[1] == list(range(size))


def test_derived_types_self_and_nobody() -> None:
    """Rows with holes to oneself, and partitions to nobody."""

    def main(comm: Any) -> Any:
        pair = MPI.INT.Create_vector(2, 1, 2).Create_resized(0, 16).Commit()
        data, found = np.arange(8, dtype="i"), np.zeros(8, "i")
        requests = [comm.Psend_init([data, 1, pair], 2, 0), comm.Precv_init([found, 1, pair], 2, 0, 0)]
        requests += [comm.Psend_init(None, 4, MPI.PROC_NULL), comm.Precv_init(None, 4, MPI.PROC_NULL, 0)]
        MPI.Prequest.Startall(requests)
        requests[0].Pready_list([1, 0])
        requests[2].Pready(3)
        assert requests[3].Parrived(1)
        MPI.Request.Waitall(requests)
        return found.tolist()

    assert fakempi.run(main, 1).returns == [[0, 0, 2, 0, 4, 0, 6, 0]]


def test_a_buffer_that_was_sent_may_change() -> None:
    """Though nobody has received it yet."""

    def main(comm: Any) -> Any:
        data = np.arange(4)
        if comm.rank == 0:
            request = comm.Psend_init(data, 2, 1)
            request.Start()
            request.Pready_range(0, 1)
            request.Wait()
            data[:] = -1
            comm.Barrier()
        else:
            comm.Barrier()
            request = comm.Precv_init(data, 2, 0, 0)
            request.Start()
            request.Wait()
        return data.tolist()

    assert fakempi.run(main, 2).returns[1] == [0, 1, 2, 3]


def test_what_is_never_ready_is_a_deadlock_that_says_so() -> None:
    """On both sides."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            request = comm.Psend_init(np.zeros(4), 4, 1)
            request.Start()
            request.Pready(2)
        else:
            request = comm.Precv_init(np.zeros(4), 4, 0, 0)
            request.Start()
        request.Wait()

    with pytest.raises(fakempi.DeadlockError) as caught:
        fakempi.run(main, 2)
    assert "rank 0: Wait(waits for Pready of partitions 0, 1, 3) at " in str(caught.value)
    assert "rank 1: Wait(waits for partitions 0, 1, 3 of rank 0) at " in str(caught.value)


def test_what_does_not_fit_is_refused() -> None:
    """With the numbers."""

    def main(comm: Any) -> Any:
        send, receive = comm.Psend_init(np.zeros(4), 2, 0), comm.Precv_init(np.zeros(4), 2, 0, 0)
        told = []
        for call in (
            lambda: send.Pready(0),
            lambda: (send.Start(), send.Pready(0), send.Pready(0)),
            lambda: send.Pready(2),
            lambda: send.Parrived(0),
            lambda: receive.Pready(0),
            lambda: comm.Precv_init(np.zeros(1), 1),
            lambda: comm.Psend_init(np.zeros(1), 0, 0),
            lambda: comm.Psend_init(np.zeros(5), 2, 0),
        ):
            with pytest.raises(MPI.Exception) as caught:
                call()
            told.append(str(caught.value).partition(" on rank 0: ")[2])
        return told

    assert fakempi.run(main, 1).returns == [[
        "the request is inactive: Start comes first.",
        "partition 0 is ready already.",
        "partition 2 is not in 0..1.",
        "the request is a send: the receiver sees what arrives.",
        "the request is a receive: the sender says what is ready.",
        "a partitioned receive has a source and a tag: there are no wildcards.",
        "partitions 0 is not positive.",
        "cannot infer count, 5 entries are not a multiple of the required 2 blocks.",
    ]]  # fmt: skip


def test_looking_again_and_again_ends() -> None:
    """When the partition is there, though nothing else happens until then."""

    def main(comm: Any) -> None:
        send, receive = comm.Psend_init(np.zeros(4), 2, 0), comm.Precv_init(np.zeros(4), 2, 0, 0)
        MPI.Prequest.Startall([send, receive])
        send.Pready(1)
        while not receive.Parrived(1):
            pass
        assert MPI.Wtime() == 1
        assert not receive.Parrived(0)
        send.Pready(0)
        MPI.Request.Waitall([send, receive])

    assert fakempi.run(main, 1, cost=fakempi.Hockney(1, 0)).time == 2
