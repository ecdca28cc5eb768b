"""The plan of recursive doubling for any p, with the messages of all ranks in arrays."""

from __future__ import annotations

from functools import partial
from typing import Final

import numpy as np

from collectives.catalogue.array_round import Ints
from collectives.patterns.butterflies.doubling import doubling_steps
from collectives.patterns.plans.array_plans import Plan, PlanRound, sums_of_runs
from collectives.tools.numbers import ceil_log2


def doubling_rounds(p: int) -> list[PlanRound]:
    """The rounds of all ranks, in arrays."""
    rounds: list[PlanRound] = []
    for k in range(ceil_log2(p)):
        rounds.append(partial(_exchange_round, 1 << k))
        rounds += [partial(_forward_round, 1 << k, 1 << h) for h in reversed(range(k)) if p % (2 << k) - (1 << k) > 0]
    return rounds


def _exchange_round(size: int, sizes: Ints) -> tuple[Ints, Ints]:
    ranks, p = np.arange(len(sizes)), len(sizes)
    first, other = ranks & -size, ranks ^ size
    nbytes = sums_of_runs(sizes, first, np.minimum(first + size, p))
    return np.where(other < p, other, ranks), np.where(other < p, nbytes, 0)


def _forward_round(size: int, half: int, sizes: Ints) -> tuple[Ints, Ints]:
    ranks, p = np.arange(len(sizes)), len(sizes)
    base = p - p % (2 * size)
    have, place = p - base - size, ranks % (2 * half)
    inside = (base <= ranks) & (ranks < base + size)
    sends = inside & (place < half) & (place < have) & (have <= place + half)
    return np.where(sends, ranks + half, ranks), np.where(sends, sizes[base + size :].sum(), 0)


doubling_plan: Final = Plan(doubling_steps, doubling_rounds)
"""The plan of this allgather."""
