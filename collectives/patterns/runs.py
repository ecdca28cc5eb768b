"""Allgather by growing runs, and reduce-scatter by shrinking runs: shared code of Bruck's algorithm and of circulant graphs.

Rank r holds a run of blocks that starts with its own: r, r+1, ... (mod p). With s blocks, it receives the first blocks of
rank r+s, which continue its run, and sends its own first blocks to r-s. A list of skips from 1 up to p, each at most
twice the previous one, gives the length of the run after each round. In reverse this is a reduction: a rank sends the
partial results at the end of its run to r+s and combines those that it receives from r-s with the first ones of its run;
in the end only its own block remains. Operands are not combined in rank order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.array_round import nonempty_round, starts_twice
from collectives.catalogue.closed_forms import all_but_own
from collectives.catalogue.conditions import commutative_only
from collectives.catalogue.schedule import Round
from collectives.patterns.reductions import combine_in_order, equal_block_claims
from collectives.tools.blocks import Layout, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op

Skips: TypeAlias = Callable[[int], Sequence[int]]
"""The skips for a number of ranks."""


def gather_runs(skips: Skips, comm: Comm, recvbuf: Buffer, layout: Layout, tag: int) -> None:
    """Fill `recvbuf` with the blocks of all ranks; the rank's own block is already there."""
    rank = comm.Get_rank()
    # The run of rank 0 starts with block 0, so it is gathered in place. The other ranks rotate theirs at the end.
    run = recvbuf if rank == 0 else spare_memory(recvbuf, layout.size(0, layout.p))
    if rank > 0:
        run[0 : layout.size(rank)] = layout.block(recvbuf, rank)
    grow(comm, run, layout, skips(layout.p), tag)
    if rank > 0:
        rotate_back(run, recvbuf, layout, rank)


def grow(comm: Comm, run: Buffer, layout: Layout, skips: Sequence[int], tag: int) -> None:
    """Gather the blocks of all ranks to `run`, which starts with the rank's own block."""
    p, rank = comm.Get_size(), comm.Get_rank()
    for held, after in pairwise(skips):
        outgoing = run[0 : layout.around(rank, after - held)]
        incoming = run[layout.around(rank, held) : layout.around(rank, after)]
        exchange(comm, outgoing, (rank - held) % p, incoming, (rank + held) % p, tag)


def shrink(comm: Comm, run: Buffer, layout: Layout, skips: Sequence[int], op: Op, tag: int) -> None:
    """Leave the result of the rank's block at the start of `run`: the operand, rotated so that this block is first."""
    p, rank = comm.Get_size(), comm.Get_rank()
    spare = spare_memory(run, longest_message(layout, skips, rank))
    for held, after in reversed(list(pairwise(skips))):
        outgoing = run[layout.around(rank, held) : layout.around(rank, after)]
        incoming = spare[0 : layout.around(rank, after - held)]
        source = (rank - held) % p
        exchange(comm, outgoing, (rank + held) % p, incoming, source, tag)
        combine_in_order(op, run[0 : incoming.size], incoming, other_is_left=source < rank)


def rotated(data: Buffer, layout: Layout, rank: int) -> Any:
    """A copy of all blocks in scratch memory, from the rank's own block on."""
    run = spare_memory(data, layout.size(0, layout.p))
    tail = layout.size(rank, layout.p)
    run[0:tail] = layout.block(data, rank, layout.p)
    run[tail : run.size] = layout.block(data, 0, rank)
    return run


def rotate_back(run: Buffer, recvbuf: Buffer, layout: Layout, rank: int) -> None:
    """Copy a run of all blocks to `recvbuf`, in rank order."""
    tail = layout.size(rank, layout.p)
    recvbuf[layout.start(rank) : layout.start(layout.p)] = run[0:tail]
    recvbuf[0 : layout.start(rank)] = run[tail : layout.start(layout.p)]


def scatter_runs(
    skips: Skips, comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, layout: Layout, op: Op, tag: int
) -> None:
    """Leave the result of the rank's block at the start of `recvbuf`."""
    rank = comm.Get_rank()
    run = rotated(recvbuf if sendbuf is None else sendbuf, layout, rank)
    shrink(comm, run, layout, skips(layout.p), op, tag)
    recvbuf[0 : layout.size(rank)] = run[0 : layout.size(rank)]


def longest_message(layout: Layout, skips: Sequence[int], rank: int) -> int:
    """Elements of the longest message that a rank combines."""
    return max((layout.around(rank, after - held) for held, after in pairwise(skips)), default=0)


def shrinking_schedule(layout: Layout, itemsize: int, skips: Sequence[int]) -> Iterator[Round]:
    """The schedule of `shrink`: a rank combines all data that it receives."""
    p, ranks, starts = layout.p, np.arange(layout.p), starts_twice(layout, itemsize)
    for held, after in reversed(list(pairwise(skips))):
        nbytes = starts[ranks + after - held] - starts[ranks]
        yield nonempty_round((ranks - held) % p, ranks, nbytes, nbytes, starts[ranks])


def growing_schedule(layout: Layout, itemsize: int, skips: Sequence[int]) -> Iterator[Round]:
    p, ranks, starts = layout.p, np.arange(layout.p), starts_twice(layout, itemsize)
    for held, after in pairwise(skips):
        yield nonempty_round(ranks, (ranks - held) % p, starts[ranks + after - held] - starts[ranks])


def shrinking(skips: Skips) -> Claims:
    """The claims of `scatter_runs`; closed forms of time and combining for equal blocks."""

    def schedule(case: Case) -> Iterator[Round]:
        return shrinking_schedule(case.layout, case.itemsize, skips(case.p))

    def scratch(case: Case, rank: int) -> int:
        return (case.layout.start(case.p) + longest_message(case.layout, skips(case.p), rank)) * case.itemsize

    equal = equal_block_claims(lambda case: len(skips(case.p)) - 1, lambda case: case.p - 1)
    return equal | Claims(schedule=schedule, scratch=scratch, why_unsupported=commutative_only, closed_sent=all_but_own)


def growing(skips: Skips) -> Claims:
    """The schedule and scratch of `gather_runs` for blocks of any size."""

    def schedule(case: Case) -> Iterator[Round]:
        return growing_schedule(case.layout, case.itemsize, skips(case.p))

    def scratch(case: Case, rank: int) -> int:
        return case.layout.size(0, case.p) * case.itemsize if rank > 0 else 0

    return Claims(schedule=schedule, scratch=scratch)


def doubling_skips(p: int) -> list[int]:
    """Bruck's skips.

    >>> doubling_skips(6), doubling_skips(8), doubling_skips(1)
    ([1, 2, 4, 6], [1, 2, 4, 8], [1])
    """
    skips = [1]
    while skips[-1] < p:
        skips.append(min(2 * skips[-1], p))
    return skips
