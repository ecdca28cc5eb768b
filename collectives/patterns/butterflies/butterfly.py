"""Vector halving with distance doubling, in rank order: shared code of reduce_scatter and reduce_scatter_block.

The remaining ranks (`folding`) have indices of d bits. In round k = 0 .. d-1 index v exchanges with the index that differs
in bit k: of the blocks that both hold, v keeps the first half if its bit k is 0, otherwise the second half. Neighbors
combine first, so operands are combined in rank order. In the end v has the block at the position whose bits are those of v
in reverse, `mirror(v)`. There are two versions. In one, the blocks are put in mirrored order before the first round, so that
v has its own block at the end. In the other, v sends the block to its owner, and the block of the owner's folded neighbor to
that neighbor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import power_of_two_only
from collectives.catalogue.schedule import Round, Seconds, Transfer, without_empty
from collectives.patterns.folding import Fold, Remaining, fold_away, fold_in, fold_in_round, fold_of, unknown_rank
from collectives.patterns.halving import halves_combined, halves_time
from collectives.patterns.reductions import combine_in_order, equal_block
from collectives.tools.blocks import Layout, copy_of, spare_memory
from collectives.tools.messages import exchange, receive, send
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm, Op


def mirror(index: int, bits: int) -> int:
    """The number whose bits are those of `index` in reverse.

    >>> [mirror(v, 3) for v in range(8)]
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    return int(f"{index:0{bits}b}"[::-1], 2) if bits else 0


def kept_range(v: int, k: int, dimension: int) -> tuple[int, int]:
    """The first position, and the number, of the blocks that index v keeps in round k.

    >>> [kept_range(v, 0, 2) for v in range(4)], [kept_range(v, 1, 2) for v in range(4)]
    ([(0, 2), (2, 2), (0, 2), (2, 2)], [(0, 1), (2, 1), (1, 1), (3, 1)])
    """
    count = 1 << dimension - k - 1
    return mirror(v & (2 << k) - 1, k + 1) * count, count


def scatter_butterfly(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, op: Op, tag: int, *, remaining: Remaining = "even"
) -> None:
    """Leave the result of the rank's block at the start of `recvbuf`; blocks are sent to their owners at the end."""
    p, rank = comm.Get_size(), comm.Get_rank()
    operand, result = recvbuf if sendbuf is None else sendbuf, recvbuf[0 : layout.size(rank)]
    fold = Fold(p, remaining=remaining)
    if p == 1:
        result[0 : result.size] = operand
        return
    if not fold.stays(rank):
        fold_away(comm, operand, None, tag)
        receive(comm, result, fold.rank(mirror(fold.index(rank), fold.dimension)), tag)
        return
    held = recvbuf if sendbuf is None else copy_of(sendbuf)
    spare = spare_memory(held, _spare(layout, fold, rank))
    fold_in(comm, fold, held, spare, op, tag)
    v = fold.index(rank)
    for k in range(fold.dimension):
        other = v ^ (1 << k)
        ranges = (fold.ranks(*kept_range(index, k, fold.dimension)) for index in (v, other))
        own_half, other_half = (layout.block(held, *blocks) for blocks in ranges)
        incoming = spare[0 : own_half.size]
        exchange(comm, other_half, fold.rank(other), incoming, fold.rank(other), tag)
        combine_in_order(op, own_half, incoming, other_is_left=other < v)
    owner = mirror(v, fold.dimension)
    owner_rank = fold.rank(owner)
    neighbor = fold.neighbor(owner_rank)
    if neighbor is not None:
        send(comm, layout.block(held, neighbor), neighbor, tag)
    if owner == v:
        result[0 : result.size] = layout.block(held, rank)
    elif sendbuf is None:
        incoming = spare[0 : result.size]  # the start of `held` may hold the block to send
        exchange(comm, layout.block(held, owner_rank), owner_rank, incoming, owner_rank, tag)
        result[0 : result.size] = incoming
    else:
        exchange(comm, layout.block(held, owner_rank), owner_rank, result, owner_rank, tag)


def butterfly_schedule(case: Case) -> Iterator[Round]:
    """The schedule of `scatter_butterfly`."""
    layout, itemsize, fold = case.layout, case.itemsize, fold_of(case)
    yield fold_in_round(fold, layout.size(0, case.p) * itemsize)
    for k in range(fold.dimension):
        ranges = [(v, fold.ranks(*kept_range(v, k, fold.dimension))) for v in range(fold.core)]
        sizes = [(v, layout.size(*blocks) * itemsize, layout.start(blocks[0]) * itemsize) for v, blocks in ranges]
        yield without_empty(Transfer(fold.rank(v ^ (1 << k)), fold.rank(v), n, n, start) for v, n, start in sizes)
    owners = [(fold.rank(v), fold.rank(mirror(v, fold.dimension))) for v in range(fold.core)]
    folded = [(r, fold.neighbor(to)) for r, to in owners]
    yield without_empty(Transfer(r, to, layout.size(to) * itemsize) for r, to in folded if to is not None)
    yield without_empty(Transfer(r, to, layout.size(to) * itemsize) for r, to in owners if r != to)


def butterfly_scratch(case: Case, rank: int) -> int:
    """A copy of the operand, unless in place, and a buffer for received data; none on folded ranks."""
    layout, fold = case.layout, fold_of(case)
    if case.p == 1 or not fold.stays(rank):
        return 0
    copied = 0 if case.in_place else layout.size(0, case.p)
    return (copied + _spare(layout, fold, rank)) * case.itemsize


def _spare(layout: Layout, fold: Fold, rank: int) -> int:
    """Elements of the longest received message."""
    if fold.neighbor(rank) is not None:
        return layout.size(0, layout.p)
    return max(layout.size(rank), layout.size(*fold.ranks(*kept_range(fold.index(rank), 0, fold.dimension))))


def scatter_mirrored(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, op: Op, tag: int) -> None:
    """Leave the result of the rank's block at the start of `recvbuf`; blocks are first put in mirrored order."""
    p, rank = comm.Get_size(), comm.Get_rank()
    operand, d = recvbuf if sendbuf is None else sendbuf, ceil_log2(p)
    mirrored = _mirrored(layout)
    held = spare_memory(operand, layout.size(0, p) if p > 1 else 0)
    spare = spare_memory(operand, _mirrored_spare(layout, rank))
    result = recvbuf[0 : layout.size(rank)]
    if p == 1:
        result[0 : result.size] = operand
        return
    for position in range(p):
        mirrored.block(held, position)[:] = layout.block(operand, mirror(position, d))
    for k in range(d):
        other = rank ^ (1 << k)
        ranges = (kept_range(index, k, d) for index in (rank, other))
        own_half, other_half = (mirrored.block(held, first, first + count) for first, count in ranges)
        incoming = spare[0 : own_half.size]
        exchange(comm, other_half, other, incoming, other, tag)
        combine_in_order(op, own_half, incoming, other_is_left=other < rank)
    result[0 : result.size] = mirrored.block(held, mirror(rank, d))


def _mirrored(layout: Layout) -> Layout:
    """The layout of the blocks in mirrored order."""
    bits = ceil_log2(layout.p)
    return Layout.of([layout.size(mirror(position, bits)) for position in range(layout.p)])


def mirrored_schedule(case: Case) -> Iterator[Round]:
    """The schedule of `scatter_mirrored`."""
    p, d, mirrored = case.p, ceil_log2(case.p), _mirrored(case.layout)
    for k in range(d):
        ranges = [kept_range(v, k, d) for v in range(p)]
        sizes = [(v, mirrored.size(first, first + count) * case.itemsize) for v, (first, count) in enumerate(ranges)]
        yield without_empty(Transfer(v ^ (1 << k), v, n, n) for v, n in sizes)


def mirrored_scratch(case: Case, rank: int) -> int:
    """The blocks in mirrored order, and a buffer for received data."""
    if case.p == 1:
        return 0
    return (case.layout.size(0, case.p) + _mirrored_spare(case.layout, rank)) * case.itemsize


def _mirrored_spare(layout: Layout, rank: int) -> int:
    """Elements of the first message, which is the longest."""
    if layout.p == 1:
        return 0
    first, count = kept_range(rank, 0, ceil_log2(layout.p))
    return _mirrored(layout).size(first, first + count)


def butterfly_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """The time of halving, and of one block to its owner if p > 2."""
    time, block = halves_time(case, t_s, t_w), equal_block(case)
    return time + t_s + block * t_w if time is not None and block and case.p > 2 else time


BUTTERFLY_CLAIMS: Final = Claims(
    schedule=butterfly_schedule,
    scratch=butterfly_scratch,
    why_unsupported=unknown_rank,
    closed_time=butterfly_time,
    closed_combined=halves_combined,
)
"""The claims of reduce_scatter and reduce_scatter_block with `scatter_butterfly`."""

MIRRORED_CLAIMS: Final = Claims(
    schedule=mirrored_schedule,
    scratch=mirrored_scratch,
    why_unsupported=power_of_two_only,
    closed_time=halves_time,
    closed_combined=halves_combined,
)
"""The claims of reduce_scatter and reduce_scatter_block with `scatter_mirrored`."""
