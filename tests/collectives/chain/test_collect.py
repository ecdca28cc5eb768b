"""Collectives on chains and derived chains: equal to sequential results, for any root and any order of ranks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives.chain import NO_RANK, Chain
from collectives.chain.collect import (
    addresses,
    allgather,
    barrier,
    bcast,
    gather,
    pack,
    reduce,
    scatter,
    to_communicator,
    unpack,
)
from collectives.chain.derived_chains import Logchain, Ring, every_nth, linked
from collectives.chain.tree import TreeShape, build_tree
from collectives.tools.numbers import ceil_log2
from collectives.verification.sort_and_split import in_order
from tests.collectives.chain.harness import EXACT, ROUNDS, run_chain, run_order
from tests.helpers.breadth import examples
from tests.helpers.loops import for_each

orders = st.integers(1, 40).flatmap(lambda n: st.permutations(range(n + 3)).map(lambda some: some[:n]))


def value(rank: int) -> Any:
    return np.array([[rank, rank * rank], [7, -rank], [rank, 0]], np.int32)


SHAPES: dict[str, Callable[[int], Any]] = {
    "as it is": value,
    "transposed": lambda rank: value(rank).T,
    "a number": lambda rank: value(rank)[0, 1],
}


@pytest.mark.sample
@pytest.mark.slow
@given(orders, st.sampled_from(sorted(SHAPES)), st.data())
@settings(max_examples=examples(20), deadline=None)
def test_every_collective_equals_the_sequential_result(order: list[int], shape: str, data: Any) -> None:
    """For any chain, any root and any memory layout of arrays."""
    size, value = len(order), SHAPES[shape]
    root = data.draw(st.integers(0, size - 1))
    everything = np.stack([value(rank) for rank in range(size)])

    def main(chain: Chain) -> list[Any]:
        own, at_root = value(chain.rank), chain.rank == root
        barrier(chain)
        scattered = scatter(chain, everything if at_root else None, own, root)
        found = [bcast(chain, own, root), allgather(chain, own), scattered, gather(chain, own, root)]
        found.append(reduce(chain, own, np.add, root))
        return [None if each is None else each.tolist() for each in found]

    for rank, found in enumerate(run_order(main, order)):
        at_root = rank == root
        assert found == [
            value(root).tolist(),
            everything.tolist(),
            value(rank).tolist(),
            everything.tolist() if at_root else None,
            everything.sum(0).tolist() if at_root else None,
        ]


@given(orders)
@settings(max_examples=10, deadline=None)
def test_packed_objects_are_gathered(order: list[int]) -> None:
    """Pickles of different lengths are padded."""

    def main(chain: Chain) -> list[Any]:
        rows = allgather(chain, pack(chain, "x" * chain.rank))
        return [unpack(row) for row in rows]

    assert run_order(main, order)[0] == ["x" * rank for rank in range(len(order))]


@given(orders)
@settings(max_examples=10, deadline=None)
def test_logchain_and_ring_have_the_right_addresses(order: list[int]) -> None:
    """A logchain at distances 2^d, a ring across the ends."""

    def main(chain: Chain) -> Any:
        logchain, ring = Logchain.of(chain), Ring.of(chain)
        rotated = ring.rotated(chain.size // 2)
        return logchain.lefts, logchain.rights, ring.left, ring.right, addresses(rotated)

    size = len(order)
    for rank, (lefts, rights, left, right, rotated) in enumerate(run_order(main, order)):
        mine = max(rank, size - 1 - rank).bit_length()
        assert lefts == [order[rank - (1 << d)] if rank >= 1 << d else NO_RANK for d in range(mine)]
        assert rights == [order[rank + (1 << d)] if rank + (1 << d) < size else NO_RANK for d in range(mine)]
        assert (left, right) == (order[rank - 1], order[(rank + 1) % size])
        assert rotated == order[size // 2 :] + order[: size // 2]


@given(orders)
@settings(max_examples=examples(20), deadline=None)
def test_linked_finds_rank_and_size_from_neighbors(order: list[int]) -> None:
    """The chain may be in any order."""

    def main(chain: Chain) -> Chain:
        return linked(chain.comm, chain.left, chain.right)

    assert [(each.rank, each.size) for each in run_order(main, order)] == [(r, len(order)) for r in range(len(order))]


@given(orders, st.integers(1, 20))
@settings(max_examples=examples(20), deadline=None)
def test_every_nth_makes_interleaved_chains(order: list[int], step: int) -> None:
    """A step larger than the chain makes chains of one process."""
    found = run_order(lambda chain: addresses(every_nth(chain, step)), order)
    assert found == [order[rank % step :: step] for rank in range(len(order))]


def test_every_nth_is_one_double_scan() -> None:
    """Every message has 16 bytes, for any step; step 0 raises."""
    for step in (1, 2, 5, 11, 20):
        main = partial(every_nth, step=step)
        assert run_chain(main, 11).time == 2 * 4
        assert run_chain(main, 16, EXACT).time == 2 * 4 * 16
    with pytest.raises(fakempi.RankError, match="every_nth: step = 0 is too small; the minimum is 1"):
        run_chain(lambda chain: every_nth(chain, 0), 3)


@for_each("size", [1, 2, 3, 4, 6, 7, 8, 9, 16, 17, 23, 39])
@for_each("block", [1, 2, 3, 5, 8, 50])
def test_every_block_has_a_tree_and_the_roots_are_a_chain(size: int, block: int) -> None:
    """Each process is in exactly one tree, and a subtree has consecutive ranks."""

    def main(chain: Chain) -> Any:
        return build_tree(chain, TreeShape(size, block=block))

    run = run_chain(main, size)
    roots = [tree for tree in run.returns if tree.roots]
    assert [tree.own.first for tree in roots] == list(range(0, size, block))
    assert [tree.own.size for tree in roots] == [min(block, size - first) for first in range(0, size, block)]
    for number, tree in enumerate(roots):
        chain = tree.roots
        neighbors = (
            (number - 1) * block if number else NO_RANK,
            (number + 1) * block if number + 1 < len(roots) else NO_RANK,
        )
        assert (chain.rank, chain.size, chain.left, chain.right) == (number, len(roots), *neighbors)
    for rank, tree in enumerate(run.returns):
        assert tree.own.size == 1 + sum(child.size for child in tree.children)
        assert all(run.returns[child.address].parent == rank for child in tree.children)
    assert run.time <= 2 * ceil_log2(min(block, size))


def test_to_communicator_keeps_the_order_of_the_chain() -> None:
    """The caller passes the function that creates the communicator."""
    order = [4, 1, 3, 0]

    def main(comm: Any) -> Any:
        if comm.Get_rank() not in order:
            return None
        group = comm.Get_group()
        made = to_communicator(in_order(comm, order), lambda ranks: comm.Create_group(group.Incl(ranks)))
        return made.Get_rank(), made.Get_size()

    assert fakempi.run(main, 6).returns == [(3, 4), (1, 4), None, (2, 4), (0, 4), None]


def test_bcast_allgather_and_barrier_take_the_rounds_of_a_double_scan() -> None:
    """2 ceil(log2 N) messages in sequence each."""

    def main(chain: Chain) -> None:
        barrier(chain)
        addresses(chain)
        bcast(chain, np.zeros(3))

    for size in (1, 2, 31, 32, 33, 100):
        assert run_chain(main, size, ROUNDS).time == 3 * 2 * ceil_log2(size)


@for_each("root", [0, 7, 31, 32, 62])
def test_gather_takes_two_messages_per_level_and_scatter_four(root: int) -> None:
    """At most; the longer side of the root determines the number of levels, and a scatter builds the tree first."""
    levels = ceil_log2(max(root, 62 - root) + 1)
    gathered = run_chain(lambda chain: gather(chain, np.zeros(1), root) is None, 63, ROUNDS).time
    scattered = run_chain(lambda chain: scatter(chain, np.zeros(63), np.zeros(()), root) is None, 63, ROUNDS).time
    assert levels <= gathered <= 2 * levels
    assert 2 * levels <= scattered <= 4 * levels


def test_invalid_roots_and_shapes_raise() -> None:
    """A root that is not a rank of the chain, and values without one row per rank."""
    calls: list[Any] = [
        lambda chain: bcast(chain, np.zeros(1), -1),
        lambda chain: gather(chain, np.zeros(1), 3),
        lambda chain: reduce(chain, np.zeros(1), np.add, 3),
        lambda chain: scatter(chain, None, np.zeros(1), 3),
    ]
    for call in calls:
        with pytest.raises(fakempi.RankError, match=r"root (-1|3) is not a rank of the chain: use 0 to 2"):
            run_chain(call, 3)
    with pytest.raises(fakempi.RankError, match=r"the root's values have shape \(2,\), but .* need shape \(3,\)"):
        run_chain(lambda chain: scatter(chain, np.arange(2) if chain.rank == 0 else None, np.zeros(())), 3)


def test_repr_shows_rank_and_neighbors() -> None:
    """The ends have one neighbor."""
    shown = run_chain(repr, 3).returns
    assert shown == ["<rank 0 of 3: 0 -> 1>", "<rank 1 of 3: 0 <- 1 -> 2>", "<rank 2 of 3: 1 <- 2>"]


def test_invalid_neighbors_raise() -> None:
    """The first rank of a chain cannot have a left neighbor."""
    with pytest.raises(ValueError, match="Chain: rank 0 of 3 cannot have the neighbors 7 and 2: "):
        Chain(None, 0, 3, 1, 7, 2, 0)  # type: ignore[arg-type]
