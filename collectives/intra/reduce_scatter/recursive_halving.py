"""Reduce_scatter by recursive halving: each half of the ranks sends the other half its part of the vector.

The algorithm is that of reduce_scatter_block by recursive halving, for blocks of different sizes.

    p = 4, counts 2, 0, 1, 3     rank 0's ranges: 002333, 00...., 00....; rank 3's: 002333, ..2333, ...333

Rounds   log2 p, or floor(log2 p) + 2    Sent per rank   all blocks but its own; all on folded ranks
         Scratch   1.5 or 2 operands
Time     log2 p t_s + (p-1) m (t_w + c); for equal blocks of m bytes and p a power of two, otherwise computed from the
         schedule
Fits     any p; commutative ops; remaining "even" or "odd"
Bits     depend on p
Best     short blocks: fewest rounds; also the least data if p is a power of two
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521; MPICH and Open MPI
         keep the odd rank of a pair
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.patterns.folding import Remaining
from collectives.patterns.halving import HALVING_CLAIMS, scatter_halves
from collectives.patterns.reductions import counted_blocks
from collectives.tools.protocol import Buffer, Comm, Op


@algorithm(**HALVING_CLAIMS)
def reduce_scatter_recursive_halving(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    op: Op,
    remaining: Remaining = "even",
    tag: int = 0,
) -> None:
    """Leave the rank's block of the result at the start of `recvbuf`; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    scatter_halves(comm, sendbuf, recvbuf, counted_blocks(counts, sendbuf, recvbuf, p, rank), op, tag, remaining)
