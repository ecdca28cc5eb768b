"""The plan of neighbor exchange: pairs of blocks travel around a ring in both directions (allgather, allgatherv)."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from collectives.catalogue.array_round import Ints
from collectives.patterns.plans.array_plans import Plan, PlanRound
from collectives.patterns.plans.block_plans import BlockExchange


def neighbor_steps(p: int, rank: int) -> list[BlockExchange]:
    """The steps of a rank out of p; p must be even or 1.

    >>> [(step.dest, step.sent, step.received) for step in neighbor_steps(6, 0)]
    [(1, (0,), (1,)), (5, (0, 1), (4, 5)), (1, (4, 5), (2, 3))]
    """
    if p == 1:
        return []
    steps = [BlockExchange(rank ^ 1, (rank,), rank ^ 1, (rank ^ 1,))]
    for i in range(1, p // 2):
        sent, received = _newest_pair(rank, i - 1, p), _newest_pair(rank, i, p)
        partner = (rank - 1) % p if (rank + i) % 2 else (rank + 1) % p  # even ranks: the left neighbor in odd rounds
        steps.append(BlockExchange(partner, (2 * sent, 2 * sent + 1), partner, (2 * received, 2 * received + 1)))
    return steps


def _newest_pair(rank: int, i: int, p: int) -> int:
    """The number of the pair of blocks that a rank received in round i; in round 0, the pair with its own block."""
    offset = (i + 1) // 2 * (-1 if (rank + i) % 2 else 1)
    return (rank // 2 + offset) % (p // 2)


def neighbor_rounds(p: int) -> list[PlanRound]:
    """The rounds of all ranks, in arrays."""
    return [_first_round, *[partial(_pair_round, i) for i in range(1, p // 2)]] if p > 1 else []


def _first_round(sizes: Ints) -> tuple[Ints, Ints]:
    return np.arange(len(sizes)) ^ 1, sizes


def _pair_round(i: int, sizes: Ints) -> tuple[Ints, Ints]:
    ranks, p = np.arange(len(sizes)), len(sizes)
    offset = i // 2 * (1 - 2 * ((ranks + i - 1) % 2))  # as in `_newest_pair`, of the round before
    pairs = sizes[0::2] + sizes[1::2]
    return (ranks + 1 - 2 * ((ranks + i) % 2)) % p, pairs[(ranks // 2 + offset) % (p // 2)]


neighbor_plan: Final = Plan(neighbor_steps, neighbor_rounds)
"""The plan of neighbor exchange."""
