"""Reduce_scatter by ring: blocks walk around and gather everybody's operand on their way to their rank.

In round k = 0 .. p-2 rank r sends the partial block r-k-1 to r+1, receives block r-k-2 from r-1 and combines it with
its own (mod p); the last is its own block r (`shapes.ring`). The operand is not touched: partial blocks are in
two spare blocks, one coming in while the other goes out.

    p = 4     start    k = 0    k = 1    k = 2      (how many operands are in each block)
    rank 0    1111     1121     1311     4...
    rank 1    1111     1112     1131     .4..
    rank 2    1111     2111     1113     ..4.
    rank 3    1111     1211     3111     ...4

Rounds   p-1    Sent per rank   all blocks but its own    Scratch   2 blocks
Time     (p-1) (t_s + b t_w + b c); b is the largest block
Fits     any p; commutative ops
Best     long blocks: no data is sent twice, and only to a neighbour; latency is linear in p
Source   Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, Journal of Parallel and
         Distributed Computing 69 (2009), doi:10.1016/j.jpdc.2008.09.002 (the first half of its allreduce)
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.shapes.reductions import counted_blocks
from collectives.shapes.ring import REDUCED_AROUND, scatter_around
from collectives.tools.protocol import Buffer, Comm, Op


def reduce_scatter_ring(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, counts: Sequence[int], *, op: Op, tag: int = 0
) -> None:
    """Leave the rank's block of the combination at the start of `recvbuf`; `sendbuf` None: the operand is there."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p, commutative=op.Is_commutative()))
    scatter_around(comm, sendbuf, recvbuf, counted_blocks(counts, sendbuf, recvbuf, p, rank), op, tag)


ALGORITHM = Algorithm(
    operation="reduce_scatter",
    name="ring",
    run=reduce_scatter_ring,
    **REDUCED_AROUND,
)
