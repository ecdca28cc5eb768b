"""Vector halving with distance halving: shared code of reduce_scatter and reduce_scatter_block.

The remaining ranks (`folding`) are halved repeatedly: each rank sends its counterpart in the other half the blocks of
that half, and combines the blocks that it receives. At the end the rank with index v has the result of its own block. If it
has a folded neighbor, it also has the result of the neighbor's block, and sends it there. Distant ranks combine first, so
the op must be commutative.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import all_of, commutative_only
from collectives.catalogue.schedule import Round, Seconds, Transfer, without_empty
from collectives.patterns.folding import Fold, Remaining, fold_away, fold_in, fold_in_round, fold_of, unknown_rank
from collectives.patterns.reductions import combine_in_order, equal_block
from collectives.tools.blocks import Layout, copy_of, spare_memory
from collectives.tools.messages import exchange, send
from collectives.tools.numbers import ceil_log2, is_power_of_two
from collectives.tools.protocol import Buffer, Comm, Op


def scatter_halves(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, op: Op, tag: int, *, remaining: Remaining = "even"
) -> None:
    """Leave the result of the rank's block at the start of `recvbuf`."""
    p, rank = comm.Get_size(), comm.Get_rank()
    own, result = recvbuf if sendbuf is None else sendbuf, recvbuf[0 : layout.size(rank)]
    fold = Fold(p, remaining=remaining)
    if p == 1:
        result[0 : result.size] = own
        return
    if not fold.stays(rank):
        fold_away(comm, own, result, tag)
        return
    held = recvbuf if sendbuf is None else copy_of(sendbuf)
    spare = spare_memory(held, _spare(layout, fold, rank))
    fold_in(comm, fold, held, spare, op, tag)
    v = fold.index(rank)
    for k in reversed(range(fold.dimension)):
        other = v ^ (1 << k)
        mine, theirs = (layout.block(held, *fold.ranks(side & -(1 << k), 1 << k)) for side in (v, other))
        incoming = spare[0 : mine.size]
        exchange(comm, theirs, fold.rank(other), incoming, fold.rank(other), tag)
        combine_in_order(op, mine, incoming, other_is_left=other < v)
    neighbor = fold.neighbor(rank)
    if neighbor is not None:
        send(comm, layout.block(held, neighbor), neighbor, tag)
    result[0 : result.size] = layout.block(held, rank)


def halves_schedule(case: Case) -> Iterator[Round]:
    """The schedule of `scatter_halves`."""
    layout, itemsize, fold = case.layout, case.itemsize, fold_of(case)
    yield fold_in_round(fold, layout.size(0, case.p) * itemsize)
    for k in reversed(range(fold.dimension)):
        kept = [(v, fold.ranks(v & -(1 << k), 1 << k)) for v in range(fold.core)]
        sizes = [(v, layout.size(*own) * itemsize, layout.start(own[0]) * itemsize) for v, own in kept]
        yield without_empty(Transfer(fold.rank(v ^ (1 << k)), fold.rank(v), n, n, start) for v, n, start in sizes)
    stay = [fold.rank(v) for v in range(fold.excess)]
    yield without_empty(Transfer(r, r ^ 1, layout.size(r ^ 1) * itemsize) for r in stay)


def halves_scratch(case: Case, rank: int) -> int:
    """A copy of the operand, unless in place, and a buffer for received data; none on folded ranks."""
    layout, fold = case.layout, fold_of(case)
    if case.p == 1 or not fold.stays(rank):
        return 0
    copied = 0 if case.in_place else layout.size(0, case.p)
    return (copied + _spare(layout, fold, rank)) * case.itemsize


def halves_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """Half of all blocks, then a quarter, and so on; None unless blocks are equal and p is a power of two."""
    block = equal_block(case)
    if block is None or not is_power_of_two(case.p):
        return None
    return ceil_log2(case.p) * t_s + (case.p - 1) * block * t_w if block else 0


def halves_combined(case: Case) -> int | None:
    """Bytes combined on the longest path; None unless blocks are equal and p is a power of two."""
    block = equal_block(case)
    return (case.p - 1) * block if block is not None and is_power_of_two(case.p) else None


def _spare(layout: Layout, fold: Fold, rank: int) -> int:
    """Elements of the longest message to combine: a vector from a neighbor, otherwise the blocks of the rank's half."""
    if fold.neighbor(rank) is not None:
        return layout.size(0, layout.p)
    half = fold.core // 2
    return layout.size(*fold.ranks(fold.index(rank) & -half, half))


HALVING_CLAIMS: Final = Claims(
    schedule=halves_schedule,
    scratch=halves_scratch,
    why_unsupported=all_of(unknown_rank, commutative_only),
    closed_time=halves_time,
    closed_combined=halves_combined,
)
"""The claims of reduce_scatter and reduce_scatter_block with this code."""
