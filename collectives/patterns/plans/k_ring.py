"""The plan of k-ring: rings within groups of k ranks, and a ring of groups; shared by allgather and allreduce."""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
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


def k_ring_plan(p: int, rank: int, *, k: int = GROUP) -> list[BlockExchange]:
    """The plan with groups of k ranks."""
    return k_ring_steps(p, k, rank)


def _rounds(p: int, k: int, rank: int) -> Iterator[BlockExchange]:
    first_rank, i = rank - rank % k, rank % k
    left, right = first_rank + (i - 1) % k, first_rank + (i + 1) % k
    for distance in range(0, p, k):
        first_block = (first_rank - distance) % p
        if distance:
            yield BlockExchange((rank + k) % p, ((first_block + k) % p + i,), (rank - k) % p, (first_block + i,))
        for step in range(k - 1):
            yield BlockExchange(right, (first_block + (i - step) % k,), left, (first_block + (i - step - 1) % k,))
