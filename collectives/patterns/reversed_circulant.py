"""The broadcast on a circulant graph in reverse: n segments are reduced in n-1+ceil(log2 p) rounds (Träff).

A segment of a broadcast reaches every rank over a tree: each rank receives it once, from a rank that has it. In reverse,
each rank sends the result of its subtree to that rank. In the broadcast the last segment may reach a rank more than once,
because it is sent in place of segments beyond the last; in reverse only its first arrival counts.

Ranks are counted from the root, v = 0. Operands are not combined in rank order.
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.patterns.circulant import receive_blocks, rounds, skips
from collectives.patterns.reductions import combine_in_order
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


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


def messages(p: int, n: int) -> Iterator[list[tuple[int, int, int]]]:
    """The messages of each round: source and destination, counted from the root, and the segment."""
    plans = [sends(v, p, n) for v in range(1, p)]
    for i, skip in enumerate(partners(p, n)):
        segments = ((v, plan[i]) for v, plan in enumerate(plans, 1))
        yield [(v, (v - skip) % p, segment) for v, segment in segments if segment is not None]


def combine_segments(
    comm: Comm, held: Buffer, pieces: Layout, root: int, op: Op, tag: int, *, has_operand: bool = True
) -> None:
    """Leave the result in the root's `held`, which has the rank's operand; a rank without one stores what arrives first."""
    p, rank = comm.Get_size(), comm.Get_rank()
    spare, v = spare_memory(held, pieces.size(0)), (rank - root) % p
    filled = [has_operand] * pieces.p
    plans: dict[int, list[int | None]] = {}
    for i, skip in enumerate(partners(p, pieces.p)):
        below, source = (v + skip) % p, (rank + skip) % p
        for u in (v, below):
            if u and u not in plans:
                plans[u] = sends(u, p, pieces.p)
        sent, received = (plans[u][i] if u else None for u in (v, below))
        outgoing, incoming = None if sent is None else pieces.block(held, sent), None
        if received is not None:
            incoming = spare[0 : pieces.size(received)] if filled[received] else pieces.block(held, received)
        exchange(comm, outgoing, (rank - skip) % p, incoming, source, tag)
        if received is not None and incoming is not None:
            if filled[received]:
                combine_in_order(op, pieces.block(held, received), incoming, other_is_left=source < rank)
            filled[received] = True
