"""Reduce_scatter by recursive halving: each half of the ranks gives the other half what that is to keep.

Let 2^d be the largest power of two in p. The other ranks first hand their operands to a neighbour (`folding`). For k =
d-1 .. 0 a rank swaps with the rank whose index differs in bit k: it sends the blocks of that rank's half and combines
those of its own. So it comes down to its own block, and that of the neighbour that left, to whom it is sent. The work
is done in a copy of the operand, unless in place.

    p = 4     start    k = 1    k = 0               (blocks that a rank works on)
    rank 0    0123     01..     0...
    rank 1    0123     01..     .1..
    rank 2    0123     ..23     ..2.
    rank 3    0123     ..23     ...3

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
