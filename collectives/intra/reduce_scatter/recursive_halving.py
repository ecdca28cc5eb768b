"""Reduce_scatter by recursive halving: each half of the ranks gives the other half what that is to keep.

As reduce_scatter_block by recursive halving, with blocks of their own sizes.

    p = 4, counts 2, 0, 1, 3     rank 0 works on 002333, 00...., 00....; rank 3 on 002333, ..2333, ...333

Rounds   log2 p, or floor(log2 p) + 2    Sent per rank   all blocks but its own; or all    Scratch   1.5 or 2 operands
Time     log2 p t_s + (p-1) m (t_w + c); this for equal blocks of m bytes and p a power of two, else by the
         schedule's recurrence, exact
Fits     any p; commutative ops
Best     short blocks: fewest rounds, and no data is sent twice if p is a power of two
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.shapes.halving import IN_HALVES, scatter_halves
from collectives.shapes.reductions import counted_blocks
from collectives.tools.protocol import Buffer, Comm, Op


def reduce_scatter_recursive_halving(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, counts: Sequence[int], *, op: Op, tag: int = 0
) -> None:
    """Leave the rank's block of the combination at the start of `recvbuf`; `sendbuf` None: the operand is there."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p, commutative=op.Is_commutative()))
    scatter_halves(comm, sendbuf, recvbuf, counted_blocks(counts, sendbuf, recvbuf, p, rank), op, tag)


ALGORITHM = Algorithm(
    operation="reduce_scatter",
    name="recursive_halving",
    run=reduce_scatter_recursive_halving,
    **IN_HALVES,
)
