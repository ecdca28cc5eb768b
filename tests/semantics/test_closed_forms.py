"""The papers' closed forms, with small algorithms written here: modeled time equals the formula exactly.

In the single-port, full-duplex model with synchronous sends (`eager_limit=0`). The contents of the buffers are checked in
the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import Hockney
from tests.helpers.packages import needs

Array = Any

SIZES = st.integers(1, 20)
POWERS = st.integers(0, 4)
BYTES = st.integers(1, 40)
COSTS = st.one_of(
    st.tuples(st.integers(0, 1000), st.integers(0, 50)),
    st.tuples(st.fractions(0, 10, max_denominator=12), st.fractions(0, 5, max_denominator=7)),
    st.tuples(st.integers(0, 64), st.integers(0, 64)).map(lambda pair: (pair[0] / 1024, pair[1] / 65536)),
)
"""Integers, Fractions, and floats whose sums are exact."""


def log2(p: int) -> int:
    """Rounded up."""
    return (p - 1).bit_length()


def time_of(main: Callable[..., Any], p: int, *args: Any, costs: tuple[Any, Any], backend: Any) -> Any:
    """The modeled makespan, the same with and without a trace."""
    cost = Hockney(*costs, eager_limit=0)
    time = fakempi.run(main, p, *args, cost=cost, backend=backend).time
    assert fakempi.run(main, p, *args, cost=cost, backend=backend, trace=True).time == time
    return time


def block(rank: int, m: int) -> Array:
    """The contribution of a rank."""
    return (np.arange(m) + 7 * rank).astype(np.uint8)


@lru_cache(maxsize=8)
def blocks(p: int, m: int) -> Array:
    """The contributions of all ranks, in rank order."""
    return np.concatenate([block(rank, m) for rank in range(p)])


# -- allgather ----------------------------------------------------------------------------------------------------


def ring(comm: Any, buffer: Array) -> None:
    """Send to the right the block that came from the left; block r is in place at the start."""
    p, r = comm.size, comm.rank
    parts = buffer.reshape(p, -1)
    for k in range(p - 1):
        comm.Sendrecv(parts[(r - k) % p], (r + 1) % p, 0, parts[(r - k - 1) % p], (r - 1) % p, 0)


def allgather_ring(comm: Any, m: int) -> None:
    """(p-1) rounds."""
    buffer = np.zeros(comm.size * m, dtype=np.uint8)
    buffer.reshape(comm.size, m)[comm.rank] = block(comm.rank, m)
    ring(comm, buffer)
    assert (buffer == blocks(comm.size, m)).all()


def allgather_recursive_doubling(comm: Any, m: int) -> None:
    """In round k, exchange all blocks received so far with rank xor 2^k."""
    p, r = comm.size, comm.rank
    buffer = np.zeros(p * m, dtype=np.uint8)
    buffer.reshape(p, m)[r] = block(r, m)
    distance = 1
    while distance < p:
        mine, other = r // distance * distance * m, (r ^ distance) // distance * distance * m
        theirs = buffer[other : other + distance * m]
        comm.Sendrecv(buffer[mine : mine + distance * m], r ^ distance, 0, theirs, r ^ distance, 0)
        distance *= 2
    assert (buffer == blocks(p, m)).all()


def allgather_bruck(comm: Any, m: int) -> None:
    """In round k, send the first min(2^k, p - 2^k) blocks to rank - 2^k; rotate at the end."""
    p, r = comm.size, comm.rank
    buffer = np.zeros((p, m), dtype=np.uint8)
    buffer[0] = block(r, m)
    have = 1
    while have < p:
        count = min(have, p - have)
        comm.Sendrecv(buffer[:count], (r - have) % p, 0, buffer[have : have + count], (r + have) % p, 0)
        have += count
    assert (np.roll(buffer, r, axis=0).ravel() == blocks(p, m)).all()


@given(SIZES, BYTES, COSTS)
def test_ring_allgather(backend: Any, p: int, m: int, costs: tuple[Any, Any]) -> None:
    """(p-1)(t_s + m t_w)."""
    t_s, t_w = costs
    assert time_of(allgather_ring, p, m, costs=costs, backend=backend) == (p - 1) * (t_s + m * t_w)


@given(POWERS, BYTES, COSTS)
def test_recursive_doubling_allgather(backend: Any, d: int, m: int, costs: tuple[Any, Any]) -> None:
    """d t_s + (p-1) m t_w for p = 2^d."""
    t_s, t_w = costs
    time = time_of(allgather_recursive_doubling, 2**d, m, costs=costs, backend=backend)
    assert time == d * t_s + (2**d - 1) * m * t_w


@given(SIZES, BYTES, COSTS)
def test_bruck_allgather(backend: Any, p: int, m: int, costs: tuple[Any, Any]) -> None:
    """ceil(log2 p) t_s + (p-1) m t_w for any p."""
    t_s, t_w = costs
    assert time_of(allgather_bruck, p, m, costs=costs, backend=backend) == log2(p) * t_s + (p - 1) * m * t_w


# -- rooted -------------------------------------------------------------------------------------------------------


def bcast_binomial(comm: Any, m: int) -> None:
    """In round k, ranks below 2^k send to rank + 2^k."""
    p, r = comm.size, comm.rank
    buffer = block(99, m) if r == 0 else np.zeros(m, dtype=np.uint8)
    distance = 1
    while distance < p:
        if r < distance:
            if r + distance < p:
                comm.Send(buffer, r + distance)
        elif r < 2 * distance:
            comm.Recv(buffer, r - distance)
        distance *= 2
    assert (buffer == block(99, m)).all()


def gather_binomial(comm: Any, m: int) -> None:
    """Rank r collects the blocks of r ... r + 2^k - 1 and sends them to r - 2^k, where k is the lowest bit of r."""
    p, r = comm.size, comm.rank
    buffer = np.zeros((p, m), dtype=np.uint8)
    buffer[0] = block(r, m)
    distance = 1
    while distance < p and not r & distance:
        comm.Recv(buffer[distance : 2 * distance], r + distance)
        distance *= 2
    if r:
        comm.Send(buffer[:distance], r - distance)
    else:
        assert (buffer.ravel() == blocks(p, m)).all()


def scatter_binomial(comm: Any, m: int) -> Array:
    """The same in reverse: half of the remaining blocks go to the rank half way."""
    p, r = comm.size, comm.rank
    buffer = np.zeros((p, m), dtype=np.uint8)
    lowest = r & -r if r else p
    if r == 0:
        buffer[:] = blocks(p, m).reshape(p, m)
    else:
        comm.Recv(buffer[:lowest], r - lowest)
    distance = lowest // 2
    while distance:
        comm.Send(buffer[distance : 2 * distance], r + distance)
        distance //= 2
    assert (buffer[0] == block(r, m)).all()
    return buffer[0]


def bcast_scatter_ring(comm: Any, m: int) -> None:
    """Scatter m/p bytes to each, then a ring allgather."""
    p = comm.size
    buffer = np.zeros(m, dtype=np.uint8)
    buffer.reshape(p, -1)[comm.rank] = scatter_binomial(comm, m // p)
    ring(comm, buffer)
    assert (buffer == blocks(p, m // p)).all()


@given(SIZES, BYTES, COSTS)
def test_binomial_bcast(backend: Any, p: int, m: int, costs: tuple[Any, Any]) -> None:
    """ceil(log2 p) (t_s + m t_w)."""
    t_s, t_w = costs
    assert time_of(bcast_binomial, p, m, costs=costs, backend=backend) == log2(p) * (t_s + m * t_w)


@pytest.mark.parametrize("algorithm", [gather_binomial, scatter_binomial])
@given(d=POWERS, m=BYTES, costs=COSTS)
def test_binomial_gather_and_scatter(
    backend: Any, algorithm: Callable[..., Any], d: int, m: int, costs: tuple[Any, Any]
) -> None:
    """d t_s + (p-1) m t_w for p = 2^d."""
    t_s, t_w = costs
    assert time_of(algorithm, 2**d, m, costs=costs, backend=backend) == d * t_s + (2**d - 1) * m * t_w


@given(POWERS, st.integers(1, 9), COSTS)
def test_bcast_by_scatter_and_ring(backend: Any, d: int, share: int, costs: tuple[Any, Any]) -> None:
    """(d + p-1) t_s + 2 (p-1)/p m t_w for p = 2^d that divides m."""
    (t_s, t_w), p = costs, 2**d
    time = time_of(bcast_scatter_ring, p, share * p, costs=costs, backend=backend)
    assert time == (d + p - 1) * t_s + 2 * (p - 1) * share * t_w


# -- allgatherv ---------------------------------------------------------------------------------------------------


def allgatherv_ring(comm: Any, counts: list[int]) -> None:
    """The ring with blocks of different sizes; empty blocks are not sent."""
    p, r = comm.size, comm.rank
    parts = [block(rank, count) if rank == r else np.zeros(count, dtype=np.uint8) for rank, count in enumerate(counts)]
    for k in range(p - 1):
        out, into = (r - k) % p, (r - k - 1) % p
        requests = [comm.Irecv(parts[into], (r - 1) % p)] if counts[into] else []
        if counts[out]:
            requests.append(comm.Isend(parts[out], (r + 1) % p))
        fakempi.MPI.Request.Waitall(requests)
    assert all(part.tobytes() == block(rank, len(part)).tobytes() for rank, part in enumerate(parts))


@given(SIZES, BYTES, COSTS, st.data())
def test_linear_ring_allgatherv_of_one_block(
    backend: Any, p: int, m: int, costs: tuple[Any, Any], data: st.DataObject
) -> None:
    """(p-1)(t_s + m t_w): one block goes around the ring, whichever rank owns it, and empty blocks are free."""
    (t_s, t_w), owner = costs, data.draw(st.integers(0, p - 1))
    counts = [m if rank == owner else 0 for rank in range(p)]
    assert time_of(allgatherv_ring, p, counts, costs=costs, backend=backend) == (p - 1) * (t_s + m * t_w)


@given(SIZES, BYTES, COSTS)
def test_linear_ring_allgatherv_of_equal_blocks(backend: Any, p: int, m: int, costs: tuple[Any, Any]) -> None:
    """The same as the allgather."""
    t_s, t_w = costs
    assert time_of(allgatherv_ring, p, [m] * p, costs=costs, backend=backend) == (p - 1) * (t_s + m * t_w)


# -- other models -------------------------------------------------------------------------------------------------


def test_hundreds_of_ranks_are_as_exact_as_two() -> None:
    """With a third and a seventh, which floats cannot represent."""
    needs("greenlet")
    t_s, t_w = Fraction(1, 3), Fraction(1, 7)
    time = time_of(allgather_bruck, 300, 3, costs=(t_s, t_w), backend="greenlets")
    assert time == 9 * t_s + 299 * 3 * t_w


def test_in_half_duplex_recursive_doubling_takes_twice_as_long(backend: Any) -> None:
    """Each exchange is two transfers, one after the other."""
    cost = Hockney(t_s=10, t_w=1, eager_limit=0, duplex=False)
    assert fakempi.run(allgather_recursive_doubling, 16, 5, cost=cost, backend=backend).time == 2 * (4 * 10 + 15 * 5)


def test_the_ring_takes_the_same_time_with_eager_messages(backend: Any) -> None:
    """All ranks are always ready: buffering changes nothing."""
    cost = Hockney(t_s=10, t_w=1)
    assert fakempi.run(allgather_ring, 9, 5, cost=cost, backend=backend).time == 8 * 15
