"""Plans of allgathers: every block reaches every rank once, and ranks send only blocks that they have."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from collectives.patterns.plans.block_plans import BlockExchange, partial_results
from collectives.patterns.plans.k_ring import k_ring_steps
from collectives.patterns.plans.multiplying import folded, multiplying_steps
from collectives.patterns.plans.shifted_plans import pat_shifts, shifted_steps, sparbit_shifts, trivance_shifts
from collectives.patterns.plans.swing import swing_steps
from collectives.tools.numbers import ceil_log2
from tests.helpers.loops import for_each

SIZES = [*range(1, 18), 27, 32, 33]


def check(p: int, steps_of: Callable[[int], list[BlockExchange]]) -> int:
    """Follow the blocks through a plan; returns the number of rounds."""
    plan = [steps_of(rank) for rank in range(p)]
    held = [{rank} for rank in range(p)]
    for steps in zip(*plan, strict=True):
        before = [set(blocks) for blocks in held]
        for rank, step in enumerate(steps):
            assert list(step.sent) == sorted(step.sent)
            assert before[rank].issuperset(step.sent)
            assert held[rank].isdisjoint(step.received)
            if step.sent:
                assert (steps[step.dest].source, steps[step.dest].received) == (rank, step.sent)
            held[rank].update(step.received)
    assert held == [set(range(p))] * p
    return len(plan[0])


@for_each("p", SIZES)
def test_shifted_plans_reach_every_rank_in_few_rounds(p: int) -> None:
    """Sparbit and PAT with large messages have ceil(log2 p) rounds; Trivance has two messages for each power of three."""
    assert check(p, lambda rank: shifted_steps(sparbit_shifts(p), rank, p)) == ceil_log2(p)
    assert check(p, lambda rank: shifted_steps(pat_shifts(p, p), rank, p)) == ceil_log2(p)
    powers = next(d for d in range(9) if 3**d >= p)
    assert check(p, lambda rank: shifted_steps(trivance_shifts(p), rank, p)) <= 2 * powers


@for_each("p", SIZES)
def test_pat_bounds_messages_and_partial_results(p: int) -> None:
    """No message has more than `aggregation` blocks; with one block there are p-1 rounds and log2 p partial results."""
    for aggregation in (1, 2, 3, 8):
        shifts = pat_shifts(p, aggregation)
        assert max((len(shift.offsets) for shift in shifts), default=0) <= aggregation
        check(p, lambda rank, shifts=shifts: shifted_steps(shifts, rank, p))  # type: ignore[misc]
        waiting = partial_results(shifted_steps(shifts, 0, p))
        assert waiting <= 2 * aggregation * max(1, ceil_log2(p))
    assert len(pat_shifts(p, 1)) == p - 1
    assert partial_results(shifted_steps(pat_shifts(p, 1), 0, p)) <= ceil_log2(p)


@for_each("p", SIZES)
def test_swing_reaches_every_rank_of_a_ring(p: int) -> None:
    """Even rings need ceil(log2 p) rounds, odd ones two more than the ring of p-1."""
    rounds = check(p, lambda rank: swing_steps(p, (), rank))
    assert rounds == (ceil_log2(p) if p % 2 == 0 or p == 1 else ceil_log2(p - 1) + 2)


@for_each("dims", [(4, 2), (2, 2, 2), (4, 4), (6, 4), (2, 1, 6), (8, 2, 2)])
def test_swing_reaches_every_rank_of_a_torus(dims: tuple[int, ...]) -> None:
    """In the sum of the rounds of the dimensions; in the last round all partners are neighbors."""
    p = prod(dims)
    assert check(p, lambda rank: swing_steps(p, dims, rank)) == sum(ceil_log2(extent) for extent in dims)


@for_each("p", SIZES)
def test_groups_of_ranks_reach_every_rank(p: int) -> None:
    """The k-ring for all divisors k, recursive multiplying for several radices; few ranks are folded."""
    for k in (k for k in range(1, p + 1) if p % k == 0):
        assert check(p, lambda rank, k=k: k_ring_steps(p, k, rank)) == p - 1  # type: ignore[misc]
    for k in (2, 3, 4, 7):
        check(p, lambda rank, k=k: multiplying_steps(p, k, rank))  # type: ignore[misc]
        assert 2 * folded(p, k).excess < p
