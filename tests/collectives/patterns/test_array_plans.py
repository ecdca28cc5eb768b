"""Plans in arrays: the same messages as in the steps of each rank, whose blocks are added one by one here."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from collectives import Case, find
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.patterns.butterflies.doubling_rounds import doubling_plan
from collectives.patterns.plans.array_plans import Plan, gather_rounds, reduce_rounds, shifted_sums, sizes_of
from collectives.patterns.plans.block_plans import BlockExchange, total
from collectives.patterns.plans.k_ring import k_ring_plan
from collectives.patterns.plans.multiplying import multiplying_plan
from collectives.patterns.plans.neighbors import neighbor_plan
from collectives.patterns.plans.shifted_plans import pat_plan, sparbit_plan, trivance_plan
from collectives.patterns.plans.swing import bine_plan, swing_plan
from collectives.tools.blocks import Layout
from tests.helpers.loops import for_each

SIZES = range(1, 34)


def steps_of(plan: Plan, p: int, **parameters: Any) -> list[tuple[BlockExchange, ...]]:
    """The steps of all ranks, by round."""
    return list(zip(*(plan.steps(p, rank, **parameters) for rank in range(p)), strict=True))


def gathered(layout: Layout, itemsize: int, rounds: Sequence[Sequence[BlockExchange]]) -> Iterator[Round]:
    """The schedule of an allgather, message by message."""
    for steps in rounds:
        yield without_empty(Transfer(r, step.dest, total(layout, step.sent) * itemsize) for r, step in enumerate(steps))


def reduced(layout: Layout, itemsize: int, rounds: Sequence[Sequence[BlockExchange]]) -> Iterator[Round]:
    """The schedule of a reduce-scatter, message by message."""
    for steps in reversed(rounds):
        sizes = [(r, step.source, total(layout, step.received) * itemsize) for r, step in enumerate(steps)]
        yield without_empty(Transfer(r, dest, nbytes, nbytes) for r, dest, nbytes in sizes)


def layouts(p: int) -> list[Layout]:
    """Blocks of many sizes; and equal ones, or blocks of two sizes, also with fewer elements than ranks."""
    source = random.Random(p)
    counts = [source.choice((0, 1, 2, 5, 9)) for _ in range(p)]
    few = (Layout.equal(3 * p, p), Layout.nearly_equal(2 * p + p // 3, p), Layout.nearly_equal(p // 2, p))
    return [Layout.of(counts), few[p % 3]][: 1 if p > 17 else 2]


def check(plan: Plan, p: int, **parameters: Any) -> None:
    """Compare the schedules of a plan."""
    steps, rounds = steps_of(plan, p, **parameters), plan.rounds(p, **parameters)
    for layout in layouts(p):
        sizes = sizes_of(layout, 4)
        assert list(gather_rounds(rounds, sizes)) == list(gathered(layout, 4, steps)), (p, parameters)
        assert list(reduce_rounds(rounds, sizes)) == list(reduced(layout, 4, steps)), (p, parameters)


@for_each("p", SIZES)
def test_plans_without_parameters(p: int) -> None:
    """On any number of ranks; neighbor exchange on even ones."""
    for plan in (sparbit_plan, trivance_plan, bine_plan, doubling_plan, *([neighbor_plan] if p == 1 or p % 2 == 0 else [])):
        check(plan, p)


@for_each("p", SIZES)
def test_plans_with_parameters(p: int) -> None:
    """PAT with short and long messages, the k-ring for a divisor, recursive multiplying for several radices."""
    for aggregation in (1 + p % 3, p):
        check(pat_plan, p, aggregation=aggregation)
    divisors = [k for k in range(1, p + 1) if p % k == 0]
    check(k_ring_plan, p, k=divisors[p // 4 % len(divisors)])
    for k in (2 + p % 2, 7):
        check(multiplying_plan, p, k=k)


@for_each("dims", [(), (4, 2), (2, 2, 2), (4, 4), (6, 4), (2, 1, 6), (1, 1), (8, 2, 2)])
def test_swing_on_a_torus(dims: tuple[int, ...]) -> None:
    """The blocks of a message are a product of coordinates."""
    check(swing_plan, prod(dims), dims=dims)


def test_sums_of_shifted_blocks() -> None:
    """The two ways to add, over offsets and over runs of equal blocks, give the sums of the definition."""
    for seed in range(200):
        source = random.Random(seed)
        p = source.randint(1, 12)
        sizes = np.array([source.choice((0, 3, 3, 3, 8)) for _ in range(p)])
        offsets = [y - source.choice((0, p)) for y in source.sample(range(p), source.randint(0, p))]
        expected = [sum(int(sizes[(r + y) % p]) for y in offsets) for r in range(p)]
        assert shifted_sums(sizes, offsets).tolist() == expected, seed


def test_memory_is_linear_in_the_messages() -> None:
    """The blocks of all messages of Bine on 2,048 ranks are 8.4 million numbers; it has 22 rounds of 2,048 messages."""
    tracemalloc.start()
    try:
        schedule = find("allreduce", "bine").plan(Case(2048, 2048 * 4, itemsize=4))
        messages = sum(map(len, schedule or ()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert messages == 2048 * 22
    assert peak < 4_000_000
