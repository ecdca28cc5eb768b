"""Events of one time have no order: closed forms of messages that are posted together, and runs with other seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI, CostModel, Hockney, LogGP, Torus, TwoLevel, ZeroCost, compute, phantom, run
from tests.semantics.seed_programs import first_difference

SIZES = range(2, 34)
NBYTES = 100
COSTS = [Hockney(t_s=3, t_w=1, eager_limit=limit) for limit in (0, 1 << 20)]
ONE = 3 + NBYTES  # the time of one message
Partners = Callable[[int, int], list[int]]


def clocks_of(partners: Partners, p: int, cost: Hockney, **options: Any) -> list[float]:
    """Clocks at the end, if each rank posts its receives and sends together; two ranks may exchange several messages."""

    def main(comm: Any) -> None:
        sources = [(source, tag) for source in range(p) for tag, dest in enumerate(partners(source, p)) if dest == comm.rank]
        requests = [comm.Irecv(phantom(NBYTES), source, tag) for source, tag in sources]
        requests += [comm.Isend(phantom(NBYTES), dest, tag) for tag, dest in enumerate(partners(comm.rank, p))]
        MPI.Request.Waitall(requests)

    return fakempi.run(main, p, cost=cost, **options).clocks


def rotated(rank: int, p: int) -> list[int]:
    """Partners at increasing distance."""
    return [(rank + i) % p for i in range(1, p)]


def exclusive_or(rank: int, p: int) -> list[int]:
    """One partner in each round of a pairwise exchange; p is a power of two."""
    return [rank ^ i for i in range(1, p)]


def test_symmetric_exchanges_take_one_message_after_the_other() -> None:
    """(p-1)(t_s + n t_w) on every rank, for eager and synchronous messages, with any seed."""
    for cost, p in product(COSTS, SIZES):
        assert clocks_of(rotated, p, cost, seed=None if p % 4 else p) == [(p - 1) * ONE] * p
        if p & (p - 1) == 0:
            assert clocks_of(exclusive_or, p, cost) == clocks_of(exclusive_or, p, cost, seed=1) == [(p - 1) * ONE] * p


def test_a_scatter_and_a_gather_pass_the_port_of_the_root_one_by_one() -> None:
    """The root sends in the order of its calls; it receives in the order of ranks."""
    for cost, p in product(COSTS, SIZES):
        assert clocks_of(lambda rank, p: [] if rank else list(range(1, p)), p, cost) == [
            (p - 1) * ONE, *(rank * ONE for rank in range(1, p))
        ]  # fmt: skip
        assert clocks_of(lambda rank, p: [0] if rank else [], p, cost) == [
            (p - 1) * ONE, *(rank * ONE for rank in range(1, p))
        ]  # fmt: skip


def shapes(limit: int = 33) -> Iterator[tuple[int, ...]]:
    """Shapes of one to three dimensions."""
    for dimensions in (1, 2, 3):
        yield from (shape for shape in product(range(2, 7), repeat=dimensions) if prod(shape) <= limit)
    yield from ((size,) for size in SIZES)


def neighbors(shape: tuple[int, ...], steps: tuple[int, int], *, periodic: bool) -> Partners:
    """Partners in each dimension, in both directions."""

    def partners(rank: int, p: int) -> list[int]:
        found, stride = [], 1
        for length in shape:
            at = rank // stride % length
            inside = [step for step in steps if periodic or 0 <= at + step < length]
            found += [rank + ((at + step) % length - at) * stride for step in inside]
            stride *= length
        return found

    return partners


def test_halos_on_rings_and_tori_take_two_messages_per_dimension() -> None:
    """In either order of the directions, on every rank."""
    for i, shape in enumerate(shapes()):
        p, steps = prod(shape), (1, -1) if i % 2 else (-1, 1)
        assert clocks_of(neighbors(shape, steps, periodic=True), p, COSTS[i // 2 % 2]) == [2 * len(shape) * ONE] * p


def test_halos_on_grids_take_as_many_messages_as_a_rank_in_the_middle_has() -> None:
    """Dimension by dimension, in either order of the directions: a rank at the border, which has fewer, delays none."""
    for i, shape in enumerate(shapes()):
        p, steps = prod(shape), (1, -1) if i % 2 else (-1, 1)
        partners = neighbors(shape, steps, periodic=False)
        most = max(len(partners(rank, p)) for rank in range(p))
        assert max(clocks_of(partners, p, COSTS[i // 2 % 2], seed=None if i % 3 else i)) == most * ONE


def _of_rank(lists: list[list[int]], rank: int, p: int) -> list[int]:
    return lists[rank]


def test_halos_in_an_unfortunate_order_do_not_depend_on_the_seed() -> None:
    """By increasing rank, as many programs post them: all neighbors send to rank 0 first, and to the last rank last."""
    for cost, shape in product(COSTS, ((3, 3), (5, 6), (3, 3, 3), (2, 3, 4))):
        p, unsorted = prod(shape), neighbors(shape, (1, -1), periodic=False)
        lists = [sorted(unsorted(rank, p)) for rank in range(p)]
        partners = partial(_of_rank, lists)
        clocks = clocks_of(partners, p, cost)
        bound = max(map(len, lists)) * ONE
        assert bound <= max(clocks) <= 2 * bound
        assert clocks == clocks_of(partners, p, cost, seed=1) == clocks_of(partners, p, cost, seed=2, backend="threads")


@pytest.mark.parametrize("operation", ["alltoall", "alltoallv"])
def test_all_blocks_posted_at_once_take_as_long_as_one_after_the_other(operation: str) -> None:
    """`linear` posts everything at once, `spread` waits in each round."""

    def main(comm: Any) -> None:
        mine, other = np.zeros(comm.size * NBYTES, "b"), np.zeros(comm.size * NBYTES, "b")
        if operation == "alltoall":
            comm.Alltoall(mine, other)
        else:
            comm.Alltoallv([mine, [NBYTES] * comm.size], [other, [NBYTES] * comm.size])

    for p in SIZES:
        cost = COSTS[p % 2]
        times = [fakempi.run(main, p, cost=cost, algorithms={operation: name}).time for name in ("linear", "spread")]
        assert times == [(p - 1) * ONE] * 2, p


def circulant(comm: Any, steps: list[tuple[int, list[tuple[int, int]]]]) -> None:
    """Each step computes and exchanges messages; a message has a distance and a number of bytes, the same on all ranks."""
    rank, p = comm.rank, comm.size
    for seconds, messages in steps:
        compute(seconds)
        requests = [comm.Irecv(phantom(n), (rank - way) % p, tag) for tag, (way, n) in enumerate(messages)]
        requests += [comm.Isend(phantom(n), (rank + way) % p, tag) for tag, (way, n) in enumerate(messages)]
        MPI.Request.Waitall(requests)
        comm.Sendrecv(phantom(seconds), (rank + seconds) % p, 0, phantom(seconds), (rank - seconds) % p, 0)


@given(
    st.integers(1, 12),
    st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 4)), max_size=6)), max_size=2
    ),
    st.sampled_from([0, 2, 100]), st.integers(1, 3), st.integers(0, 3),
    st.sampled_from(["hockney", "loggp", "torus", "nodes"]), st.sampled_from([None, 1, 2]),
)  # fmt: skip
def test_if_all_ranks_do_the_same_all_clocks_are_equal(
    p: int, steps: Any, limit: int, ports: int, latency: int, name: str, seed: int | None
) -> None:
    """Exchanges at any distances, on machines where all ranks are alike and send while they receive."""
    common: dict[str, Any] = {"eager_limit": limit, "ports": ports}
    models: dict[str, Callable[[], CostModel]] = {
        "hockney": lambda: Hockney(latency, 1, **common),
        "loggp": lambda: LogGP(latency, 1, 2, 1, **common),
        "torus": lambda: Torus(p, t_s=1, t_hop=latency, t_w=1, gap=latency, links=ports, **common),
        "nodes": lambda: TwoLevel(1, inter=Hockney(latency, 1), network_ports=ports, **common),
    }
    assert len(set(run(circulant, p, steps, cost=models[name](), seed=seed).clocks)) == 1


def test_random_programs_do_not_depend_on_the_seed() -> None:
    """All cost models, backends, traces, fused and emulated; `.ci/full` tries 10,000 of them."""
    assert [found for number in range(25) if (found := first_difference(number))] == []


def test_with_receives_from_any_source_a_seed_varies_what_mpi_leaves_open() -> None:
    """Messages that are sent at one time, received by receives that are posted before or after them, eager or not."""

    def main(comm: Any, late: bool) -> list[int]:
        if comm.rank:
            comm.send(comm.rank, 0)
            return []
        if late:
            fakempi.compute(100)
        return [comm.recv(source=MPI.ANY_SOURCE) for _ in range(1, comm.size)]

    for cost, late in product((*COSTS, ZeroCost(), Hockney(1, 1, ports=2), Hockney(1, 1, duplex=False)), (False, True)):
        orders = [tuple(fakempi.run(main, 5, late, cost=cost, seed=seed).returns[0]) for seed in range(12)]
        assert len(set(orders)) > 3, (cost, late)
        assert {tuple(sorted(order)) for order in orders} == {(1, 2, 3, 4)}
        assert orders == [tuple(fakempi.run(main, 5, late, cost=cost, seed=seed).returns[0]) for seed in range(12)]
