"""The plan of neighbor exchange: pairs of blocks travel around a ring in both directions (allgather, allgatherv)."""

from __future__ import annotations

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
