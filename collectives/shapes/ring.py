"""Blocks walking around the ring: the common text of the reductions that pass partial results to the right.

Block b starts on its way at rank b+1 and gathers everybody's operand: in round k = 0 .. p-2 rank r sends the partial
block r-k-1 to r+1, receives block r-k-2 from r-1 and combines it with its own; the last is its own block r (mod p). The
operands of a block are taken in the order b+1, b+2, ..., b, so the op must commute.

The largest block makes all p-1 hops one after the other, and no round lasts longer than a message of its size: hence
the time for blocks of any sizes is that of p-1 such messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from collectives.catalogue.algorithm import Case, Claims, commutative_only
from collectives.catalogue.closed_forms import all_but_own
from collectives.catalogue.schedule import Round, Seconds, Transfer, message, without_empty
from collectives.shapes.reductions import combine
from collectives.tools.blocks import Layout, load, scratch
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


def reduce_around(comm: Comm, data: Buffer, layout: Layout, op: Op, tag: int) -> Any:
    """The combination of everybody's block r, for rank r; `data` stays as it is."""
    p, rank = comm.Get_size(), comm.Get_rank()
    left, right = (rank - 1) % p, (rank + 1) % p
    spares = [scratch(data, layout.largest) for _ in range(min(2, p - 1))]
    partial = layout.block(data, left)
    for k in range(p - 1):
        block = layout.block(data, (rank - k - 2) % p)
        incoming = spares[k % 2][0 : block.size]
        exchange(comm, partial, right, incoming, left, tag)
        combine(op, block, incoming)
        partial = incoming
    return partial


def scatter_around(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, op: Op, tag: int) -> None:
    """Leave the combination of the rank's blocks at the start of `recvbuf`."""
    data = recvbuf if sendbuf is None else sendbuf
    load(recvbuf[0 : layout.size(comm.Get_rank())], reduce_around(comm, data, layout, op, tag))


def gather_around(comm: Comm, buf: Buffer, layout: Layout, tag: int) -> None:
    """Everybody's block r gets to everybody: in round k rank r sends block r-k and receives block r-k-1."""
    p, rank = comm.Get_size(), comm.Get_rank()
    for k in range(p - 1):
        outgoing, incoming = layout.block(buf, (rank - k) % p), layout.block(buf, (rank - k - 1) % p)
        exchange(comm, outgoing, (rank + 1) % p, incoming, (rank - 1) % p, tag)


def reduced_around(layout: Layout, itemsize: int) -> Iterator[Round]:
    """The schedule of `reduce_around`."""
    p = layout.p
    for k in range(p - 1):
        sizes = [(r, layout.size((r - k - 1) % p) * itemsize) for r in range(p)]
        yield without_empty(Transfer(r, (r + 1) % p, nbytes, nbytes) for r, nbytes in sizes)


def gathered_around(layout: Layout, itemsize: int) -> Iterator[Round]:
    """The schedule of `gather_around`."""
    p = layout.p
    for k in range(p - 1):
        yield without_empty(Transfer(r, (r + 1) % p, layout.size((r - k) % p) * itemsize) for r in range(p))


def around_scratch(layout: Layout, itemsize: int) -> int:
    """Two blocks in turn: one comes in while the other goes out."""
    return min(2, layout.p - 1) * layout.largest * itemsize


def gathered_at(starts: Sequence[Seconds], pieces: Layout, itemsize: int, t_s: Seconds, t_w: Seconds) -> Seconds:
    """When `gather_around` of nearly equal pieces is over, if rank r begins at starts[r]; no schedule is walked.

    Pieces 0 .. e-1 may be one element longer. From any start a chain of messages leads on, one per round. Following a
    piece keeps it at that piece's size, staying with a rank leads to the piece before, and going left to the one before
    that: so the chain from a rank r > e reaches the longer pieces after ceil((r - e) / 2) rounds, and stays with them.
    """
    p, longest = pieces.p, pieces.largest
    larger = sum(pieces.size(r) == longest for r in range(p))
    short_by = t_w * itemsize
    ends = [start - max(0, r - larger + 1) // 2 * short_by for r, start in enumerate(starts)]
    return max(ends) + (p - 1) * message(longest * itemsize, t_s, t_w)


def all_but_right(case: Case, rank: int) -> int:
    """What a rank sends in `gather_around`: all blocks but that of its right neighbour, where it would end."""
    return all_but_own(case, (rank + 1) % case.p)


def around_rounds(case: Case) -> int:
    """One for each of the largest block's hops."""
    return case.p - 1 if case.layout.largest else 0


def around_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    """The largest block's hops."""
    return (case.p - 1) * message(case.layout.largest * case.itemsize, t_s, t_w)


GATHERED_AROUND: Final = Claims(
    schedule=lambda case: gathered_around(case.layout, case.itemsize),
    closed_rounds=around_rounds,
    closed_sent=all_but_right,
    closed_time=around_time,
)
"""What allgather and allgatherv by `gather_around` claim."""

REDUCED_AROUND: Final = Claims(
    schedule=lambda case: reduced_around(case.layout, case.itemsize),
    scratch=lambda case, rank: around_scratch(case.layout, case.itemsize),
    fits=commutative_only,
    closed_rounds=around_rounds,
    closed_sent=all_but_own,
    closed_time=around_time,
    closed_combined=lambda case: (case.p - 1) * case.layout.largest * case.itemsize,
)
"""What reduce_scatter and reduce_scatter_block by `scatter_around` claim."""
