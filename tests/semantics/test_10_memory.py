"""Rule 10: memory is shared if possible, payloads are copied once, and phantoms cost nothing."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI, Hockney, compute, phantom
from tests.helpers.packages import needs

FRAMES = 1 if sys.version_info >= (3, 11) else 2
"""Before Python 3.11 every frame of a program is an object on the heap."""

MEGABYTE = 1 << 20


def peak(main: Any, nprocs: int, *args: Any, **options: Any) -> int:
    """The peak memory of a run.

    The smaller of two measurements, after a run that does late imports: other activity of this process can only increase it.
    """
    fakempi.run(main, nprocs, *args, **options)
    found = []
    for _ in range(2):
        gc.collect()
        tracemalloc.start()
        try:
            fakempi.run(main, nprocs, *args, **options)
            found.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(found)


def test_a_phantom_is_modeled_in_full_and_has_no_contents(backend: Any) -> None:
    """An exabyte around a ring, in time and in counters, and nothing is allocated."""
    nbytes = 10**18

    def main(comm: Any) -> Any:
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        status = MPI.Status()
        comm.Sendrecv(phantom(nbytes), right, 0, phantom(nbytes), left, 0, status)
        return status.Get_count(MPI.BYTE)

    run = fakempi.run(main, 4, cost=Hockney(t_s=1, t_w=1), backend=backend)
    assert (run.time, run.messages, run.bytes, run.returns) == (10**18 + 1, 4, 4 * 10**18, [nbytes] * 4)
    assert peak(main, 4, backend=backend) < MEGABYTE


def test_a_phantom_is_eager_or_synchronous_like_any_other_message(backend: Any) -> None:
    """By its size."""

    def main(comm: Any, nbytes: int) -> None:
        comm.Send(phantom(nbytes), 1 - comm.rank)
        comm.Recv(phantom(nbytes), 1 - comm.rank)

    fakempi.run(main, 2, 100, cost=Hockney(eager_limit=100), backend=backend)
    with pytest.raises(fakempi.DeadlockError):
        fakempi.run(main, 2, 101, cost=Hockney(eager_limit=100), backend=backend)


def test_a_phantom_that_is_too_long_raises_like_any_other_message(backend: Any) -> None:
    """The message has both sizes."""

    def main(comm: Any) -> None:
        if comm.rank == 0:
            comm.Send(phantom(96), 1, tag=7)
        else:
            comm.Recv(phantom(64), 0)

    words = r"Recv on rank 1: message truncated, 96 bytes arrived from rank 0 \(tag 7\) but the buffer holds 64\."
    with pytest.raises(fakempi.RankError, match=words):
        fakempi.run(main, 2, backend=backend)


def test_a_phantom_costs_as_much_time_as_an_array_of_its_size(backend: Any) -> None:
    """The trace is the same."""

    def main(comm: Any, make: Any) -> None:
        for size in (0, 8, 8000):
            comm.Sendrecv(make(size), 1 - comm.rank, size, make(size), 1 - comm.rank, size)

    traces = [
        fakempi.run(main, 2, make, backend=backend, trace=True).trace
        for make in (phantom, bytearray, lambda nbytes: np.zeros(nbytes // 8))
    ]
    transfers = [trace.transfers for trace in traces if trace is not None]
    assert len(transfers[0]) == 6
    assert transfers[0] == transfers[1] == transfers[2]


def test_large_phantoms_among_many_ranks_fit_in_little_memory() -> None:
    """8 MB from each of 256 ranks to its neighbor: two gigabytes, with a few kilobytes per rank."""

    def main(comm: Any) -> None:
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        comm.Sendrecv(phantom(8 * MEGABYTE), right, 0, phantom(8 * MEGABYTE), left, 0)

    assert peak(main, 256) < 256 * 10_000 * FRAMES


@pytest.mark.parametrize("eager_limit", [0, 100 * MEGABYTE], ids=["synchronous", "eager"])
def test_a_payload_goes_directly_to_a_posted_receive(backend: Any, eager_limit: int) -> None:
    """Without an intermediate copy: memory holds the two buffers only."""

    def main(comm: Any) -> None:
        buffer = np.zeros(4 * MEGABYTE, dtype=np.uint8)
        if comm.rank == 0:
            compute(1)
            comm.Send(buffer, 1)
        else:
            comm.Recv(buffer, 0)

    assert peak(main, 2, cost=Hockney(eager_limit=eager_limit), backend=backend) < 9 * MEGABYTE


def test_a_payload_that_waits_is_copied_once(backend: Any) -> None:
    """Its sender has changed the buffer meanwhile."""

    def main(comm: Any) -> Any:
        if comm.rank == 0:
            buffer = np.ones(4 * MEGABYTE, dtype=np.uint8)
            comm.Send(buffer, 1)
            buffer[:] = 2
            comm.recv(source=1)
            return None
        compute(1)
        buffer = np.zeros(4 * MEGABYTE, dtype=np.uint8)
        comm.Recv(buffer, 0)
        comm.send(None, 0)
        return int(buffer.max())

    cost = Hockney(eager_limit=100 * MEGABYTE)
    assert fakempi.run(main, 2, cost=cost, backend=backend).returns[1] == 1
    assert peak(main, 2, cost=cost, backend=backend) < 13 * MEGABYTE


def test_received_messages_are_not_kept(backend: Any) -> None:
    """Thirty messages of a megabyte in each direction, one at a time."""

    def main(comm: Any) -> None:
        buffer = np.zeros(MEGABYTE, dtype=np.uint8)
        for _ in range(30):
            comm.Sendrecv_replace(buffer, 1 - comm.rank, 0, 1 - comm.rank)
            assert len(comm.sendrecv(b"x" * MEGABYTE, 1 - comm.rank, source=1 - comm.rank)) == MEGABYTE

    assert peak(main, 2, backend=backend) < 12 * MEGABYTE


def test_a_group_is_one_object_for_all_ranks(backend: Any) -> None:
    """For the world, its splits, and its duplicates."""

    def main(comm: Any) -> list[Any]:
        half = comm.Split(comm.rank % 2)
        return [one.Get_group()._members for one in (comm, half, half.Dup(), comm.Create(comm.Get_group()))]

    returns = fakempi.run(main, 6, backend=backend).returns
    for column in range(4):
        assert len({id(row[column]) for row in returns}) == (2 if column in (1, 2) else 1)
    assert all(row[1] is row[2] and row[0] is row[3] for row in returns)


def empty(comm: Any) -> None:
    """An empty program."""


def splits(comm: Any) -> Any:
    """Three communicators of the size of the world, and one of two ranks."""
    reversed_ = comm.Split(0, -comm.rank)
    return comm.Dup(), reversed_, reversed_.Split(0), comm.Split(comm.rank // 2)


def exchanges(comm: Any) -> None:
    """A message in each of log p rounds."""
    distance = 1
    while distance < comm.size:
        to, source = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        comm.Sendrecv(phantom(8), to, 0, phantom(8), source, 0)
        distance *= 2


@pytest.mark.sample
@pytest.mark.slow
@pytest.mark.parametrize(("main", "most"), [(empty, 4_000), (splits, 10_000), (exchanges, 10_000)])
def test_nothing_on_a_rank_grows_with_the_number_of_ranks(main: Any, most: int) -> None:
    """Bytes per rank, at 32 and at 128 ranks: about the same, and few."""
    needs("greenlet")
    small, large = (peak(main, nprocs, backend="greenlets") / nprocs for nprocs in (32, 128))
    assert large < 1.25 * small
    assert large < most * FRAMES
