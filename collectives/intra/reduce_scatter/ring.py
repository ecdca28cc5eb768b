"""Reduce_scatter by ring: blocks travel around the ring to their rank and are combined with each rank's operand.

The algorithm is that of reduce_scatter_block by ring, for blocks of different sizes; empty blocks are not sent.

    p = 4, counts 2, 0, 1, 3     block 0 goes 1 -> 2 -> 3 -> 0, block 2 3 -> 0 -> 1 -> 2, block 3 0 -> 1 -> 2 -> 3

Rounds   p-1    Sent per rank   all blocks but its own    Scratch   2 blocks
Time     (p-1) (t_s + b t_w + b c); b is the largest block
Fits     any p; commutative ops
Bits     depend on position
Best     long blocks: the least data, sent only to a neighbor; latency is linear in p
Source   Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, Journal of Parallel and
         Distributed Computing 69 (2009), doi:10.1016/j.jpdc.2008.09.002 (the first half of its allreduce)
"""

from collectives.patterns.families import reduce_scatter
from collectives.patterns.ring import REDUCE_AROUND_CLAIMS, scatter_around

reduce_scatter_ring = reduce_scatter(__name__, scatter_around, **REDUCE_AROUND_CLAIMS)
