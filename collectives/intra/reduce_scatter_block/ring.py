"""Reduce_scatter_block by ring: blocks travel around the ring to their rank and are combined with each rank's operand.

In round k = 0 .. p-2 rank r sends the partial block r-k-1 to r+1, receives block r-k-2 from r-1 and combines it with
its own (mod p); the last one is its own block r (`patterns.ring`). The operand is not modified: partial blocks are in
two spare blocks, one for receiving while the other is sent.

    p = 4     start    k = 0    k = 1    k = 2      (number of operands in each block)
    rank 0    1111     1121     1311     4...
    rank 1    1111     1112     1131     .4..
    rank 2    1111     2111     1113     ..4.
    rank 3    1111     1211     3111     ...4

Rounds   p-1    Sent per rank   all blocks but its own    Scratch   2 blocks
Time     (p-1) (t_s + m t_w + m c)
Fits     any p; commutative ops; blocks of equal size
Bits     depend on position
Best     long blocks: the least data, sent only to a neighbor; latency is linear in p
Source   Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, Journal of Parallel and
         Distributed Computing 69 (2009), doi:10.1016/j.jpdc.2008.09.002 (the first half of its allreduce)
"""

from collectives.patterns.families import reduce_scatter_block
from collectives.patterns.ring import REDUCE_AROUND_CLAIMS, scatter_around

reduce_scatter_block_ring = reduce_scatter_block(__name__, scatter_around, **REDUCE_AROUND_CLAIMS)
