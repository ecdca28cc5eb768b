"""Reduce_scatter_block by pairwise exchange: in every round the ranks form pairs, and each gives the other its block.

If p is a power of two, rank r meets r xor i in round i = 1 .. p-1; otherwise the rounds are those of a tournament
(`shapes.pairs`), p-1 of them if p is even and p if it is odd, when everybody rests once. A rank sends its partner
the partner's block of its operand, and combines with its own block what it receives.

    p = 4     start    i = 1    i = 2    i = 3      (block r of rank r: whose operands are in it)
    rank 0    0        01       012      0123
    rank 1    1        01       013      0123
    rank 2    2        23       023      0123
    rank 3    3        23       123      0123

Rounds   p-1, or p if odd    Sent per rank   all blocks but its own    Scratch   its own block
Time     (p-1) (t_s + m t_w + m c); p (t_s + m t_w + m c) where p is odd
Fits     any p; commutative ops; blocks of equal size
Best     long blocks: no data is sent twice, and the operand is not copied
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
         (there a rank sends to r+i and receives from r-i in round i)
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.shapes.pair_reductions import IN_PAIRS, scatter_pairs
from collectives.shapes.reductions import equal_blocks
from collectives.tools.protocol import Buffer, Comm, Op


def reduce_scatter_block_pairwise(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, tag: int = 0) -> None:
    """Leave the rank's block of the combination at the start of `recvbuf`; `sendbuf` None: the operand is there."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p, commutative=op.Is_commutative()))
    scatter_pairs(comm, sendbuf, recvbuf, equal_blocks(sendbuf, recvbuf, p, rank), op, tag)


ALGORITHM = Algorithm(
    operation="reduce_scatter_block",
    name="pairwise",
    run=reduce_scatter_block_pairwise,
    **IN_PAIRS,
)
