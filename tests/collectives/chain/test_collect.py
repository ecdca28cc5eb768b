"""Collectives on chains, and the shapes: the same as in one place, from any root, in any order of the ranks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives.chain import NOBODY, Chain
from collectives.chain.collect import addresses, allgather, barrier, bcast, gather, make, pack, reduce, scatter, unpack
from collectives.chain.shapes import Logchain, Ring, every, linked
from collectives.chain.tree import Places, grow
from collectives.tools.numbers import ceil_log2
from collectives.verification.chains import in_order
from tests.collectives.chain.harness import EXACT, ROUNDS, run_chain, run_order

orders = st.integers(1, 40).flatmap(lambda n: st.permutations(range(n + 3)).map(lambda some: some[:n]))


def value(rank: int) -> Any:
    return np.array([[rank, rank * rank], [7, -rank], [rank, 0]], np.int32)


SHAPES: dict[str, Callable[[int], Any]] = {
    "as it is": value,
    "transposed": lambda rank: value(rank).T,
    "a number": lambda rank: value(rank)[0, 1],
}


@given(orders, st.sampled_from(sorted(SHAPES)), st.data())
@settings(max_examples=60, deadline=None)
def test_every_collective_agrees_with_one_place(order: list[int], shape: str, data: Any) -> None:
    """Any chain, any root, in whatever order the memory of an array is."""
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
@settings(max_examples=20, deadline=None)
def test_anything_that_can_be_pickled_is_gathered(order: list[int]) -> None:
    """Padded to the longest."""

    def main(chain: Chain) -> list[Any]:
        rows = allgather(chain, pack(chain, "x" * chain.rank))
        return [unpack(row) for row in rows]

    assert run_order(main, order)[0] == ["x" * rank for rank in range(len(order))]


@given(orders)
@settings(max_examples=20, deadline=None)
def test_a_logchain_knows_who_is_two_to_the_d_hops_away(order: list[int]) -> None:
    """And a ring who comes after the last."""

    def main(chain: Chain) -> Any:
        logchain, ring = Logchain.of(chain), Ring.of(chain)
        turned = ring.turned(chain.size // 2)
        return logchain.lefts, logchain.rights, ring.left, ring.right, addresses(turned)

    size = len(order)
    for rank, (lefts, rights, left, right, turned) in enumerate(run_order(main, order)):
        mine = max(rank, size - 1 - rank).bit_length()
        assert lefts == [order[rank - (1 << d)] if rank >= 1 << d else NOBODY for d in range(mine)]
        assert rights == [order[rank + (1 << d)] if rank + (1 << d) < size else NOBODY for d in range(mine)]
        assert (left, right) == (order[rank - 1], order[(rank + 1) % size])
        assert turned == order[size // 2 :] + order[: size // 2]


@given(orders)
@settings(max_examples=20, deadline=None)
def test_neighbours_alone_make_a_chain(order: list[int]) -> None:
    """Rank and size are counted."""

    def main(chain: Chain) -> Chain:
        return linked(chain.comm, chain.left, chain.right)

    assert [(each.rank, each.size) for each in run_order(main, order)] == [(r, len(order)) for r in range(len(order))]


@given(orders, st.integers(1, 20))
@settings(max_examples=20, deadline=None)
def test_a_chain_is_dealt_out_to_any_number_of_chains(order: list[int], step: int) -> None:
    """Every step-th is in one; a step larger than the chain leaves everybody alone."""
    found = run_order(lambda chain: addresses(every(chain, step)), order)
    assert found == [order[rank % step :: step] for rank in range(len(order))]


def test_dealing_is_one_double_scan() -> None:
    """Of an address, so 16 bytes a message, whatever the step; none has no step at all."""
    for step in (1, 2, 5, 11, 20):
        deal = partial(every, step=step)
        assert run_chain(deal, 11).time == 2 * 4
        assert run_chain(deal, 16, EXACT).time == 2 * 4 * 16
    with pytest.raises(fakempi.RankError, match="every 0th of a chain: the step must be 1 or more"):
        run_chain(lambda chain: every(chain, 0), 3)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 7, 8, 9, 16, 17, 23, 39])
@pytest.mark.parametrize("block", [1, 2, 3, 5, 8, 50])
def test_every_block_has_a_tree_and_the_roots_are_a_chain(size: int, block: int) -> None:
    """Each process is below exactly one root; parts are neighbours on the chain."""

    def main(chain: Chain) -> Any:
        return grow(chain, Places(size, block=block))

    run = run_chain(main, size)
    roots = [tree for tree in run.returns if tree.roots]
    assert [tree.own.first for tree in roots] == list(range(0, size, block))
    assert [tree.own.size for tree in roots] == [min(block, size - first) for first in range(0, size, block)]
    for number, tree in enumerate(roots):
        chain = tree.roots
        neighbours = (
            (number - 1) * block if number else NOBODY,
            (number + 1) * block if number + 1 < len(roots) else NOBODY,
        )
        assert (chain.rank, chain.size, chain.left, chain.right) == (number, len(roots), *neighbours)
    for rank, tree in enumerate(run.returns):
        assert tree.own.size == 1 + sum(child.size for child in tree.children)
        assert all(run.returns[child.address].parent == rank for child in tree.children)
    assert run.time <= 2 * ceil_log2(min(block, size))


def test_a_chain_becomes_a_communicator_when_one_is_wanted() -> None:
    """In the chain's order; the caller says how."""
    order = [4, 1, 3, 0]

    def main(comm: Any) -> Any:
        if comm.Get_rank() not in order:
            return None
        group = comm.Get_group()
        made = make(in_order(comm, order), lambda ranks: comm.Create_group(group.Incl(ranks)))
        return made.Get_rank(), made.Get_size()

    assert fakempi.run(main, 6).returns == [(3, 4), (1, 4), None, (2, 4), (0, 4), None]


def test_a_chain_sends_no_more_than_its_rounds_need() -> None:
    """Broadcast, allgather and barrier are double scans."""

    def main(chain: Chain) -> None:
        barrier(chain)
        addresses(chain)
        bcast(chain, np.zeros(3))

    for size in (1, 2, 31, 32, 33, 100):
        assert run_chain(main, size, ROUNDS).time == 3 * 2 * ceil_log2(size)


@pytest.mark.parametrize("root", [0, 7, 31, 32, 62])
def test_trees_have_two_messages_a_level_and_a_scatter_finds_its_tree_first(root: int) -> None:
    """As long as the longer side of the root: on each level those that step out tell two neighbours."""
    levels = ceil_log2(max(root, 62 - root) + 1)
    gathered = run_chain(lambda chain: gather(chain, np.zeros(1), root) is None, 63, ROUNDS).time
    scattered = run_chain(lambda chain: scatter(chain, np.zeros(63), np.zeros(()), root) is None, 63, ROUNDS).time
    assert levels <= gathered <= 2 * levels
    assert 2 * levels <= scattered <= 4 * levels


def test_what_cannot_be_is_refused_before_anything_is_sent() -> None:
    """A root that is not on the chain, and rows that are not one for each."""
    calls: list[Any] = [
        lambda chain: bcast(chain, np.zeros(1), -1),
        lambda chain: gather(chain, np.zeros(1), 3),
        lambda chain: reduce(chain, np.zeros(1), np.add, 3),
        lambda chain: scatter(chain, None, np.zeros(1), 3),
    ]
    for call in calls:
        with pytest.raises(fakempi.RankError, match=r"root (-1|3) is not in 0\.\.2, the ranks of the chain"):
            run_chain(call, 3)
    with pytest.raises(fakempi.RankError, match=r"the root has values of shape \(2,\), but .* need \(3,\)"):
        run_chain(lambda chain: scatter(chain, np.arange(2) if chain.rank == 0 else None, np.zeros(())), 3)


def test_a_chain_shows_its_place_and_neighbours() -> None:
    """And at the ends nobody."""
    shown = run_chain(repr, 3).returns
    assert shown == ["<rank 0 of 3: 0 -> 1>", "<rank 1 of 3: 0 <- 1 -> 2>", "<rank 2 of 3: 1 <- 2>"]


def test_impossible_neighbours_are_refused() -> None:
    """Whoever makes a chain by hand should hear of it at once."""
    with pytest.raises(ValueError, match="rank 0 of a chain of 3 cannot have 7 to its left and 2 to its right"):
        Chain(None, 0, 3, 1, 7, 2, 0)  # type: ignore[arg-type]
