"""Blocks around a ring: shared code of reductions and allgathers that send to the right neighbor.

In the reduction block b starts at rank b+1 and collects the operands of all ranks: in round k = 0 .. p-2 rank r sends the
partial block r-k-1 to r+1, receives block r-k-2 from r-1 and combines it with its operand; the last one is its own block
r (mod p). The operands of a block are combined in the order b+1, b+2, ..., b, so the op must be commutative.

The largest block makes all p-1 hops one after the other, and no round lasts longer than a message of that size. The time for
blocks of any sizes is therefore that of p-1 messages of the largest size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.array_round import nonempty_round, starts_twice
from collectives.catalogue.closed_forms import all_but_own
from collectives.catalogue.conditions import commutative_only
from collectives.catalogue.schedule import Round, Seconds, message
from collectives.patterns.reductions import combine
from collectives.tools.blocks import Layout, load, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


def reduce_around(comm: Comm, data: Buffer, layout: Layout, op: Op, tag: int) -> Any:
    """Return the result of block r of all ranks, on rank r; `data` is not modified."""
    p, rank = comm.Get_size(), comm.Get_rank()
    left, right = (rank - 1) % p, (rank + 1) % p
    spares = [spare_memory(data, layout.largest) for _ in range(min(2, p - 1))]
    partial = layout.block(data, left)
    for k in range(p - 1):
        block = layout.block(data, (rank - k - 2) % p)
        incoming = spares[k % 2][0 : block.size]
        exchange(comm, partial, right, incoming, left, tag)
        combine(op, block, incoming)
        partial = incoming
    return partial


def scatter_around(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, op: Op, tag: int) -> None:
    """Leave the result of the rank's block at the start of `recvbuf`."""
    data = recvbuf if sendbuf is None else sendbuf
    load(recvbuf[0 : layout.size(comm.Get_rank())], reduce_around(comm, data, layout, op, tag))


def gather_around(comm: Comm, buf: Buffer, layout: Layout, tag: int) -> None:
    """Gather block r of each rank r to all ranks: in round k rank r sends block r-k and receives block r-k-1."""
    p, rank = comm.Get_size(), comm.Get_rank()
    for k in range(p - 1):
        outgoing, incoming = layout.block(buf, (rank - k) % p), layout.block(buf, (rank - k - 1) % p)
        exchange(comm, outgoing, (rank + 1) % p, incoming, (rank - 1) % p, tag)


def reduce_around_schedule(layout: Layout, itemsize: int) -> Iterator[Round]:
    p, ranks, starts = layout.p, np.arange(layout.p), starts_twice(layout, itemsize)
    for k in range(p - 1):
        block = (ranks - k - 1) % p
        nbytes = starts[block + 1] - starts[block]
        yield nonempty_round(ranks, (ranks + 1) % p, nbytes, nbytes, starts[block])


def gather_around_schedule(layout: Layout, itemsize: int) -> Iterator[Round]:
    p, ranks, sizes = layout.p, np.arange(layout.p), np.diff(starts_twice(layout, itemsize))
    for k in range(p - 1):
        yield nonempty_round(ranks, (ranks + 1) % p, sizes[(ranks - k) % p])


def around_scratch(layout: Layout, itemsize: int) -> int:
    """Scratch bytes of `reduce_around`: two blocks, one of which is received while the other is sent."""
    return min(2, layout.p - 1) * layout.largest * itemsize


def gather_around_end(starts: Sequence[Seconds], pieces: Layout, itemsize: int, t_s: Seconds, t_w: Seconds) -> Seconds:
    """Return the time at which `gather_around` of nearly equal pieces ends, if rank r begins at starts[r].

    Pieces 0 .. e-1 may be one element longer. From any start a chain of dependent messages continues with one message per
    round. The next message in the chain has the same piece if the chain moves right with it, the preceding piece if the
    chain stays at a rank, and the piece before that if the chain moves left. The chain from a rank r > e therefore reaches
    the longer pieces after ceil((r - e) / 2) rounds, and stays with them.
    """
    p, longest = pieces.p, pieces.largest
    larger = sum(pieces.size(r) == longest for r in range(p))
    short_by = t_w * itemsize
    ends = [start - max(0, r - larger + 1) // 2 * short_by for r, start in enumerate(starts)]
    return max(ends) + (p - 1) * message(longest * itemsize, t_s, t_w)


def all_but_right(case: Case, rank: int) -> int:
    """Bytes that a rank sends in `gather_around`: all blocks except that of its right neighbor."""
    return all_but_own(case, (rank + 1) % case.p)


def around_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    """Time of the largest block's hops."""
    return (case.p - 1) * message(case.layout.largest * case.itemsize, t_s, t_w)


GATHER_AROUND_CLAIMS: Final = Claims(
    schedule=lambda case: gather_around_schedule(case.layout, case.itemsize),
    closed_sent=all_but_right,
    closed_time=around_time,
)
"""The claims of allgather and allgatherv by `gather_around`."""

REDUCE_AROUND_CLAIMS: Final = Claims(
    schedule=lambda case: reduce_around_schedule(case.layout, case.itemsize),
    scratch=lambda case, rank: around_scratch(case.layout, case.itemsize),
    why_unsupported=commutative_only,
    closed_sent=all_but_own,
    closed_time=around_time,
    closed_combined=lambda case: (case.p - 1) * case.layout.largest * case.itemsize,
)
"""The claims of reduce_scatter and reduce_scatter_block by `scatter_around`."""
