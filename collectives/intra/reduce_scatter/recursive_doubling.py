"""Reduce_scatter by recursive doubling: groups of ranks double, and exchange the blocks of ranks outside the group.

The algorithm is that of reduce_scatter_block by recursive doubling, for blocks of different sizes.

    p = 4, counts 2, 0, 1, 3     rank 0 sends 2333, then 2333; rank 3 sends 002, then 00

Rounds   log2 p; more if p is not a power of two    Sent per rank   all blocks outside each group
         Scratch   up to 4 operands
Time     log2 p t_s + (p log2(p/2)+1) m (t_w + c); for equal blocks of m bytes and p a power of two, otherwise computed
         from the schedule
Fits     any p; any op, in rank order
Bits     depend on the operands only
Best     noncommutative ops and blocks of a few bytes: few rounds
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (here, a rank
         without a partner receives data that its group has not combined yet)
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.patterns.butterflies.doubling import DOUBLING_CLAIMS, scatter_doubling
from collectives.patterns.reductions import counted_blocks
from collectives.tools.protocol import Buffer, Comm, Op


@algorithm(in_order=True, **DOUBLING_CLAIMS)
def reduce_scatter_recursive_doubling(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, counts: Sequence[int], *, op: Op, tag: int = 0
) -> None:
    """Leave the rank's block of the result at the start of `recvbuf`; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    scatter_doubling(comm, sendbuf, recvbuf, counted_blocks(counts, sendbuf, recvbuf, p, rank), op, tag)
