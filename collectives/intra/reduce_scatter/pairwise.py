"""Reduce_scatter by pairwise exchange: in every round the ranks form pairs, and each gives the other its block.

As reduce_scatter_block by pairwise exchange, with blocks of their own sizes.

    p = 4, counts 2, 0, 1, 3     i = 1: 1 gives 0 two elements, 2 gives 3 three, 3 gives 2 one; nobody ever gives 1 any

Rounds   p-1, or p if odd    Sent per rank   all blocks but its own    Scratch   its own block
Time     (p-1) (t_s + m t_w + m c); p (t_s + m t_w + m c) where p is odd; this for equal blocks of m bytes, else by
         the schedule's recurrence, exact
Fits     any p; commutative ops
Best     long blocks: no data is sent twice, and the operand is not copied
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
         (there a rank sends to r+i and receives from r-i in round i)
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.shapes.pair_reductions import IN_PAIRS, scatter_pairs
from collectives.shapes.reductions import counted_blocks
from collectives.tools.protocol import Buffer, Comm, Op


def reduce_scatter_pairwise(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, counts: Sequence[int], *, op: Op, tag: int = 0
) -> None:
    """Leave the rank's block of the combination at the start of `recvbuf`; `sendbuf` None: the operand is there."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p, commutative=op.Is_commutative()))
    scatter_pairs(comm, sendbuf, recvbuf, counted_blocks(counts, sendbuf, recvbuf, p, rank), op, tag)


ALGORITHM = Algorithm(
    operation="reduce_scatter",
    name="pairwise",
    run=reduce_scatter_pairwise,
    **IN_PAIRS,
)
