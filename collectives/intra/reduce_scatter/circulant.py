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

from functools import partial

from collectives.patterns.circulant import skips
from collectives.patterns.families import reduce_scatter
from collectives.patterns.runs import scatter_runs, shrinking

reduce_scatter_circulant = reduce_scatter(__name__, partial(scatter_runs, skips), **shrinking(skips))
