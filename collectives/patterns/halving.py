"""Vector halving, and its use with distance halving: shared code of reduce_scatter and reduce_scatter_block.

Two ranks that hold the same blocks split them: each sends the blocks that the other keeps, and combines the received blocks
with those that it keeps (`exchange_halves`).

With distance halving, the remaining ranks (`folding`) are halved repeatedly: each rank sends its counterpart in the other
half the blocks of that half, and combines the blocks that it receives. At the end the rank with index v has the result of
its own block. If it has a folded neighbor, it also has the result of the neighbor's block, and sends it there. Distant ranks
combine first, so the op must be commutative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import all_of, commutative_only
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.patterns.folding import Fold, Remaining, fold_away, fold_in, fold_in_round, fold_of, unknown_rank
from collectives.patterns.reductions import combine_in_order, equal_block_claims
from collectives.tools.blocks import Layout, copy_of, spare_memory
from collectives.tools.messages import exchange, send
from collectives.tools.numbers import ceil_log2, is_power_of_two
from collectives.tools.protocol import Buffer, Comm, Op

KeptBlocks: TypeAlias = Callable[[int, int], tuple[int, int]]
"""The range (first, end) of blocks that index v keeps when it exchanges with the index that differs in bit k."""


def exchange_halves(
    comm: Comm,
    held: Buffer,
    spare: Buffer,
    layout: Layout,
    fold: Fold,
    bits: Iterable[int],
    kept: KeptBlocks,
    op: Op,
    tag: int,
) -> None:
    """For each bit, exchange with the index that differs in it, and combine the received blocks with those kept."""
    v = fold.index(comm.Get_rank())
    for k in bits:
        other = v ^ (1 << k)
        mine, theirs = layout.block(held, *kept(v, k)), layout.block(held, *kept(other, k))
        incoming = spare[0 : mine.size]
        exchange(comm, theirs, fold.rank(other), incoming, fold.rank(other), tag)
        combine_in_order(op, mine, incoming, other_is_left=other < v)


def exchange_halves_schedule(
    layout: Layout, itemsize: int, fold: Fold, bits: Iterable[int], kept: KeptBlocks
) -> Iterator[Round]:
    for k in bits:
        ranges = [(v, kept(v, k)) for v in range(fold.core)]
        sizes = [(v, layout.size(*own) * itemsize, layout.start(own[0]) * itemsize) for v, own in ranges]
        yield without_empty(Transfer(fold.rank(v ^ (1 << k)), fold.rank(v), n, n, start) for v, n, start in sizes)


def span(v: int, k: int, d: int) -> tuple[int, int]:
    """The blocks out of 2^d, first and end, that v still holds after k steps with distance doubling.

    >>> [span(v, 1, 2) for v in range(4)], [span(v, 2, 2) for v in range(4)]
    ([(0, 2), (2, 4), (0, 2), (2, 4)], [(0, 1), (2, 3), (1, 2), (3, 4)])
    """
    first = sum(((v >> j) & 1) << (d - 1 - j) for j in range(k))
    return first, first + (1 << (d - k))


def folded_scratch(spare: Callable[[Layout, Fold, int], int]) -> Callable[[Case, int], int]:
    """A copy of the operand, unless in place, and `spare` elements for received data; none on folded ranks."""

    def scratch(case: Case, rank: int) -> int:
        layout, fold = case.layout, fold_of(case)
        if case.p == 1 or not fold.stays(rank):
            return 0
        copied = 0 if case.in_place else layout.size(0, case.p)
        return (copied + spare(layout, fold, rank)) * case.itemsize

    return scratch


# Distance halving ----------------------------------------------------------------------------------------------------


def _kept(fold: Fold) -> KeptBlocks:
    return lambda v, k: fold.ranks(v & -(1 << k), (v & -(1 << k)) + (1 << k))


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
    exchange_halves(comm, held, spare, layout, fold, reversed(range(fold.dimension)), _kept(fold), op, tag)
    neighbor = fold.neighbor(rank)
    if neighbor is not None:
        send(comm, layout.block(held, neighbor), neighbor, tag)
    result[0 : result.size] = layout.block(held, rank)


def halves_schedule(case: Case) -> Iterator[Round]:
    layout, itemsize, fold = case.layout, case.itemsize, fold_of(case)
    yield fold_in_round(fold, layout.size(0, case.p) * itemsize)
    yield from exchange_halves_schedule(layout, itemsize, fold, reversed(range(fold.dimension)), _kept(fold))
    stay = [fold.rank(v) for v in range(fold.excess)]
    yield without_empty(Transfer(r, r ^ 1, layout.size(r ^ 1) * itemsize) for r in stay)


def _spare(layout: Layout, fold: Fold, rank: int) -> int:
    """Elements of the longest message to combine: a vector from a neighbor, otherwise the blocks of the rank's half."""
    if fold.neighbor(rank) is not None:
        return layout.size(0, layout.p)
    return layout.size(*_kept(fold)(fold.index(rank), fold.dimension - 1))


# Half of all blocks, then a quarter, and so on.
EQUAL_HALVES: Final = equal_block_claims(
    lambda case: ceil_log2(case.p), lambda case: case.p - 1, lambda case: is_power_of_two(case.p)
)

HALVING_CLAIMS: Final = EQUAL_HALVES | Claims(
    schedule=halves_schedule, scratch=folded_scratch(_spare), why_unsupported=all_of(unknown_rank, commutative_only)
)
"""The claims of reduce_scatter and reduce_scatter_block with this code."""
