"""The broadcast on a circulant graph in reverse: n segments are reduced in n-1+ceil(log2 p) rounds (Träff).

A segment of a broadcast reaches every rank over a tree: each rank receives it once, from a rank that has it. In reverse,
each rank sends the result of its subtree to that rank. In the broadcast the last segment may reach a rank more than once,
because it is sent in place of segments beyond the last; in reverse only its first arrival counts.

Ranks are counted from the root, v = 0. Operands are not combined in rank order.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.patterns.circulant import receive_blocks, rounds, skips


def sends(v: int, p: int, n: int) -> list[int | None]:
    """The segment that v > 0 sends in each round, in the order of the reduction; None if it sends nothing.

    >>> sends(1, 4, 2), sends(2, 4, 2), sends(3, 4, 2)
    ([0, 1, None], [1, None, 0], [1, 0, None])
    """
    receives, received_last, blocks = receive_blocks(v, p), False, list[int | None]()
    for k, shift in rounds(n, p):
        block = receives[k] + shift
        is_last = block >= n - 1
        blocks.append(None if block < 0 or (is_last and received_last) else min(block, n - 1))
        received_last = received_last or is_last
    return blocks[::-1]


def partners(p: int, n: int) -> Iterator[int]:
    """The distances s of the rounds, in the order of the reduction: v sends to v - s and receives from v + s (mod p)."""
    steps = skips(p)
    yield from [steps[k] for k, _ in rounds(n, p)][::-1]
