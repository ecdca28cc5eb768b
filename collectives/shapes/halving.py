"""Vectors and distances are halved together: the common text of reduce_scatter and reduce_scatter_block.

The ranks that stay (`folding`) are halved again and again: each rank exchanges with its counterpart in the other half
what that half is to keep, and combines what it receives. In the end index v has its own blocks in full: its rank's and,
if it took in a neighbour, the neighbour's, which it sends there. Distant ranks meet first, so the op must commute.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from collectives.catalogue.algorithm import Case, Claims, commutative_only
from collectives.catalogue.schedule import Round, Seconds, Transfer, without_empty
from collectives.shapes.folding import Fold, fold_in, folded_in, leave
from collectives.shapes.reductions import equal_block, join
from collectives.tools.blocks import Layout, copy_of, scratch
from collectives.tools.messages import exchange, send
from collectives.tools.numbers import ceil_log2, is_power_of_two
from collectives.tools.protocol import Buffer, Comm, Op


def scatter_halves(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, op: Op, tag: int) -> None:
    """Leave the combination of the rank's blocks at the start of `recvbuf`."""
    p, rank = comm.Get_size(), comm.Get_rank()
    own, result = recvbuf if sendbuf is None else sendbuf, recvbuf[0 : layout.size(rank)]
    fold = Fold(p)
    if p == 1:
        result[0 : result.size] = own
        return
    if not fold.stays(rank):
        leave(comm, own, result, tag)
        return
    held = recvbuf if sendbuf is None else copy_of(sendbuf)
    spare = scratch(held, _spare(layout, fold, rank))
    fold_in(comm, fold, held, spare, op, tag)
    v = fold.index(rank)
    for k in reversed(range(fold.dimension)):
        other = v ^ (1 << k)
        mine, theirs = (layout.block(held, *_ranks(fold, side & -(1 << k), 1 << k)) for side in (v, other))
        incoming = spare[0 : mine.size]
        exchange(comm, theirs, fold.rank(other), incoming, fold.rank(other), tag)
        join(op, mine, incoming, other_is_left=other < v)
    neighbour = fold.neighbour(rank)
    if neighbour is not None:
        send(comm, layout.block(held, neighbour), neighbour, tag)
    result[0 : result.size] = layout.block(held, rank)


def halves_schedule(case: Case) -> Iterator[Round]:
    layout, itemsize, fold = case.layout, case.itemsize, Fold(case.p)
    yield folded_in(fold, layout.size(0, case.p) * itemsize)
    for k in reversed(range(fold.dimension)):
        kept = [(v, layout.size(*_ranks(fold, v & -(1 << k), 1 << k)) * itemsize) for v in range(fold.core)]
        yield without_empty(Transfer(fold.rank(v ^ (1 << k)), fold.rank(v), nbytes, nbytes) for v, nbytes in kept)
    leavers = range(1, 2 * fold.excess, 2)
    yield without_empty(Transfer(r - 1, r, layout.size(r) * itemsize) for r in leavers)


def halves_scratch(case: Case, rank: int) -> int:
    """A copy of the operand, unless in place, and room for what comes in; nothing on the ranks that leave."""
    layout, fold = case.layout, Fold(case.p)
    if case.p == 1 or not fold.stays(rank):
        return 0
    copied = 0 if case.in_place else layout.size(0, case.p)
    return (copied + _spare(layout, fold, rank)) * case.itemsize


def halves_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """Half of all blocks, then a quarter, and so on."""
    block = equal_block(case)
    if block is None or not is_power_of_two(case.p):
        return None
    return ceil_log2(case.p) * t_s + (case.p - 1) * block * t_w if block else 0


def halves_combined(case: Case) -> int | None:
    block = equal_block(case)
    return (case.p - 1) * block if block is not None and is_power_of_two(case.p) else None


def _ranks(fold: Fold, index: int, count: int) -> tuple[int, int]:
    """The ranks, first and end, whose blocks belong to `count` indices: two for each of the first e."""
    end = index + count
    return index + min(index, fold.excess), end + min(end, fold.excess)


def _spare(layout: Layout, fold: Fold, rank: int) -> int:
    """The longest message to combine: a whole vector from a neighbour, else the blocks of the own half."""
    if fold.neighbour(rank) is not None:
        return layout.size(0, layout.p)
    half = fold.core // 2
    return layout.size(*_ranks(fold, fold.index(rank) & -half, half))


IN_HALVES: Final = Claims(
    schedule=halves_schedule,
    scratch=halves_scratch,
    fits=commutative_only,
    closed_time=halves_time,
    closed_combined=halves_combined,
)
"""What reduce_scatter and reduce_scatter_block by this text claim."""
