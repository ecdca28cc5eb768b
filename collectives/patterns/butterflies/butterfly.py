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
from collectives.patterns.halving import (
    EQUAL_HALVES,
    KeptBlocks,
    exchange_halves,
    exchange_halves_schedule,
    folded_scratch,
    span,
)
from collectives.patterns.reductions import equal_block
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


def _kept(fold: Fold) -> KeptBlocks:
    return lambda v, k: fold.ranks(*span(v, k + 1, fold.dimension))


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
    exchange_halves(comm, held, spare, layout, fold, range(fold.dimension), _kept(fold), op, tag)
    v = fold.index(rank)
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
    layout, itemsize, fold = case.layout, case.itemsize, fold_of(case)
    yield fold_in_round(fold, layout.size(0, case.p) * itemsize)
    yield from exchange_halves_schedule(layout, itemsize, fold, range(fold.dimension), _kept(fold))
    owners = [(fold.rank(v), fold.rank(mirror(v, fold.dimension))) for v in range(fold.core)]
    folded = [(r, fold.neighbor(to)) for r, to in owners]
    yield without_empty(Transfer(r, to, layout.size(to) * itemsize) for r, to in folded if to is not None)
    yield without_empty(Transfer(r, to, layout.size(to) * itemsize) for r, to in owners if r != to)


def _spare(layout: Layout, fold: Fold, rank: int) -> int:
    """Elements of the longest received message."""
    if fold.neighbor(rank) is not None:
        return layout.size(0, layout.p)
    return max(layout.size(rank), layout.size(*_kept(fold)(fold.index(rank), 0)))


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
    exchange_halves(comm, held, spare, mirrored, Fold(p), range(d), lambda v, k: span(v, k + 1, d), op, tag)
    result[0 : result.size] = mirrored.block(held, mirror(rank, d))


def _mirrored(layout: Layout) -> Layout:
    """The layout of the blocks in mirrored order."""
    bits = ceil_log2(layout.p)
    return Layout.of([layout.size(mirror(position, bits)) for position in range(layout.p)])


def mirrored_schedule(case: Case) -> Iterator[Round]:
    p, d, mirrored = case.p, ceil_log2(case.p), _mirrored(case.layout)
    for k in range(d):
        sizes = [(v, mirrored.size(*span(v, k + 1, d)) * case.itemsize) for v in range(p)]
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
    return _mirrored(layout).size(*span(rank, 1, ceil_log2(layout.p)))


def butterfly_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """The time of halving, and of one block to its owner if p > 2."""
    time, block = EQUAL_HALVES["closed_time"](case, t_s, t_w), equal_block(case)
    return time + t_s + block * t_w if time is not None and block and case.p > 2 else time


BUTTERFLY_CLAIMS: Final = EQUAL_HALVES | Claims(
    schedule=butterfly_schedule, scratch=folded_scratch(_spare), why_unsupported=unknown_rank, closed_time=butterfly_time
)
"""The claims of reduce_scatter and reduce_scatter_block with `scatter_butterfly`."""

MIRRORED_CLAIMS: Final = EQUAL_HALVES | Claims(
    schedule=mirrored_schedule, scratch=mirrored_scratch, why_unsupported=power_of_two_only
)
"""The claims of reduce_scatter and reduce_scatter_block with `scatter_mirrored`."""
