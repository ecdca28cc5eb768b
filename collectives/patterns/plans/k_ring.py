"""The plan of k-ring: rings within groups of k ranks, and a ring of groups; shared by allgather and allreduce."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.array_round import Ints
from collectives.patterns.plans.array_plans import Plan, PlanRound
from collectives.patterns.plans.block_plans import BlockExchange

GROUP = 2
"""Default of k, the number of ranks in a group."""


def divides_ranks_only(case: Case) -> str | None:
    """`why_unsupported` of an algorithm with a parameter k that must divide p."""
    k = case.parameters.get("k", GROUP)
    if k < 1:
        return f"k = {k} is not positive"
    return None if case.p % k == 0 or case.p == 1 else f"k = {k} does not divide p = {case.p}"


def k_ring_steps(p: int, k: int, rank: int) -> list[BlockExchange]:
    """The steps of a rank out of p; in each step a rank sends one block and receives one.

    >>> [(step.dest, step.sent, step.received) for step in k_ring_steps(4, 2, 0)]
    [(1, (0,), (1,)), (2, (0,), (2,)), (1, (2,), (3,))]
    """
    return list(_rounds(p, k, rank)) if p > 1 else []


def _rounds(p: int, k: int, rank: int) -> Iterator[BlockExchange]:
    first_rank, i = rank - rank % k, rank % k
    left, right = first_rank + (i - 1) % k, first_rank + (i + 1) % k
    for distance in range(0, p, k):
        first_block = (first_rank - distance) % p
        if distance:
            yield BlockExchange((rank + k) % p, ((first_block + k) % p + i,), (rank - k) % p, (first_block + i,))
        for step in range(k - 1):
            yield BlockExchange(right, (first_block + (i - step) % k,), left, (first_block + (i - step - 1) % k,))


def k_ring_rounds(p: int, k: int) -> list[PlanRound]:
    """The rounds of all ranks, in arrays."""
    messages: list[PlanRound] = []
    for distance in range(0, p, k) if p > 1 else ():
        messages += [partial(_between, k, distance)] if distance else []
        messages += [partial(_within, k, distance, step) for step in range(k - 1)]
    return messages


def _between(k: int, distance: int, sizes: Ints) -> tuple[Ints, Ints]:
    ranks, p = np.arange(len(sizes)), len(sizes)
    return (ranks + k) % p, sizes[(ranks - distance + k) % p]


def _within(k: int, distance: int, step: int, sizes: Ints) -> tuple[Ints, Ints]:
    ranks, p = np.arange(len(sizes)), len(sizes)
    first_rank, i = ranks - ranks % k, ranks % k
    return first_rank + (i + 1) % k, sizes[(first_rank - distance) % p + (i - step) % k]


def _steps(p: int, rank: int, *, k: int = GROUP) -> list[BlockExchange]:
    return k_ring_steps(p, k, rank)


k_ring_plan: Final = Plan(_steps, k_ring_rounds)
"""The plan with groups of k ranks."""
