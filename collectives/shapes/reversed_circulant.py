"""The broadcast on a circulant graph backwards: n segments are reduced in n-1+ceil(log2 p) rounds (Träff).

A segment of a broadcast reaches every rank over a tree: everybody is sent it once by somebody who has it. Backwards in
time, everybody sends its combination of the tree below it to that one. Only the last segment may reach a rank more than
once in a broadcast, as a stand-in for those beyond it; what counts here is its first arrival.

Ranks count from the root, v = 0. What comes together is not in rank order.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.shapes.circulant import receive_blocks, rounds, skips


def sends(v: int, p: int, n: int) -> list[int | None]:
    """Which segment v > 0 sends in each round, in the order of reducing; None where it sends nothing.

    >>> sends(1, 4, 2), sends(2, 4, 2), sends(3, 4, 2)
    ([0, 1, None], [1, None, 0], [1, 0, None])
    """
    receives, seen, found = receive_blocks(v, p), False, list[int | None]()
    for k, shift in rounds(n, p):
        block = receives[k] + shift
        late = block >= n - 1
        found.append(None if block < 0 or (late and seen) else min(block, n - 1))
        seen = seen or late
    return found[::-1]


def partners(p: int, n: int) -> Iterator[int]:
    """How far the rounds reach, in the order of reducing: v sends to v - s and receives from v + s (mod p)."""
    steps = skips(p)
    yield from [steps[k] for k, _ in rounds(n, p)][::-1]
