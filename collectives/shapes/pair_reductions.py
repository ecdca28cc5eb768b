"""Reduce-scatter in pairs: the common text of reduce_scatter and reduce_scatter_block by pairwise exchange.

In every round of `pairs` a rank sends its partner the partner's block of its own operand, receives its own block of the
partner's operand, and combines that with what it has. Partners come in any order, so the op must commute.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from collectives.catalogue.algorithm import Case, Claims, commutative_only
from collectives.catalogue.closed_forms import all_but_own
from collectives.catalogue.schedule import Round, Seconds, Transfer, message, without_empty
from collectives.shapes.pairs import meetings, partner
from collectives.shapes.reductions import combine, equal_block
from collectives.tools.blocks import Layout, load, scratch
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


def scatter_pairs(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, op: Op, tag: int) -> None:
    """Leave the combination of the rank's blocks at the start of `recvbuf`."""
    p, rank = comm.Get_size(), comm.Get_rank()
    data = recvbuf if sendbuf is None else sendbuf
    held = result = recvbuf[0 : layout.size(rank)]
    if sendbuf is None:
        # The blocks in front are still to be sent: the own one is combined where it is, and moved at the end.
        held = layout.block(recvbuf, rank)
    else:
        load(held, layout.block(sendbuf, rank))
    spare = scratch(recvbuf, held.size if p > 1 else 0)
    for i in range(meetings(p)):
        other = partner(rank, i, p)
        if other is not None:
            exchange(comm, layout.block(data, other), other, spare, other, tag)
            combine(op, spare, held)
    load(result, held if sendbuf is None else None)


def scatter_pairs_schedule(case: Case) -> Iterator[Round]:
    p, layout = case.p, case.layout
    for i in range(meetings(p)):
        met = ((r, partner(r, i, p)) for r in range(p))
        sizes = [(r, other, layout.size(r) * case.itemsize) for r, other in met if other is not None]
        yield without_empty(Transfer(other, r, nbytes, nbytes) for r, other, nbytes in sizes)


def scatter_pairs_scratch(case: Case, rank: int) -> int:
    return case.layout.size(rank) * case.itemsize if case.p > 1 else 0


def scatter_pairs_rounds(case: Case) -> int | None:
    """As many as there are meetings if no block is empty."""
    smallest = min(case.layout.size(r) for r in range(case.p))
    if smallest:
        return meetings(case.p)
    return None if case.layout.largest else 0


def scatter_pairs_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    block = equal_block(case)
    return None if block is None else meetings(case.p) * message(block, t_s, t_w)


def scatter_pairs_combined(case: Case) -> int | None:
    # Who rests in a round cannot run ahead: its partner of the next round is still busy in this one.
    block = equal_block(case)
    return None if block is None else meetings(case.p) * block


IN_PAIRS: Final = Claims(
    schedule=scatter_pairs_schedule,
    scratch=scatter_pairs_scratch,
    fits=commutative_only,
    closed_rounds=scatter_pairs_rounds,
    closed_sent=all_but_own,
    closed_time=scatter_pairs_time,
    closed_combined=scatter_pairs_combined,
)
"""What reduce_scatter and reduce_scatter_block by this text claim."""
