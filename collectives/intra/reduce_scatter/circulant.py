"""Reduce_scatter on a circulant graph: in ceil(log2 p) rounds for any p; each rank sends p - 1 blocks.

The algorithm is that of reduce_scatter_block on a circulant graph, for blocks of different sizes; empty messages are
not sent.

    p = 4     start     k = 1    k = 0      (counts 2, 0, 1, 3; a digit is an element of the block with that number)
    rank 0    002333    00       00
    rank 1    233300    2        -
    rank 2    233300    2333     2
    rank 3    333002    33300    333

Rounds   ceil(log2 p)    Sent per rank   all blocks but its own    Scratch   between 1 and 2 operands
Time     ceil(log2 p) t_s + (p-1) m (t_w + c); for equal blocks of m bytes, otherwise computed from the schedule
Fits     any p; commutative ops
Bits     depend on p, position
Best     short blocks, and blocks of similar size: fewest rounds and least data for any p; costs a rotated copy
Source   Träff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024, arXiv:2410.14234
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.patterns.circulant import skips
from collectives.patterns.reductions import counted_blocks
from collectives.patterns.runs import scatter_runs, shrinking
from collectives.tools.protocol import Buffer, Comm, Op


@algorithm(**shrinking(skips))
def reduce_scatter_circulant(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, counts: Sequence[int], *, op: Op, tag: int = 0
) -> None:
    """Leave the rank's block of the result at the start of `recvbuf`; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    scatter_runs(comm, sendbuf, recvbuf, counted_blocks(counts, sendbuf, recvbuf, p, rank), skips(p), op, tag)
