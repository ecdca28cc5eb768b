"""Reduce_scatter_block by recursive doubling: groups of ranks double, and exchange the blocks of ranks outside the group.

A group of size s = 1, 2, 4, ... consists of the ranks with the same r // s. In the round of size s, rank r exchanges with
rank r XOR s: it sends the blocks of all ranks outside its group, and combines what it receives. If p is not
a power of two, ranks without a partner receive the data from a rank of their group, which sends a copy of it, because
combining may overwrite the original (`patterns.butterflies.doubling`).

    p = 4     start    s = 1    s = 2               (number of operands in each block, while it is needed)
    rank 0    1111     2.22     4...
    rank 1    1111     .222     .4..
    rank 2    1111     222.     ..4.
    rank 3    1111     22.2     ...4

Rounds   log2 p; more if p is not a power of two    Sent per rank   (p log2 p - p + 1) m bytes
         Scratch   up to 4 operands
Time     log2 p t_s + (p log2(p/2)+1) m (t_w + c); if p is not a power of two, the time is computed from the schedule
Fits     any p; any op, in rank order; blocks of equal size
Bits     depend on the operands only
Best     noncommutative ops and blocks of a few bytes: few rounds
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (here, a rank
         without a partner receives data that its group has not combined yet)
"""

from collectives.patterns.butterflies.doubling import DOUBLING_CLAIMS, scatter_doubling
from collectives.patterns.families import reduce_scatter_block

reduce_scatter_block_recursive_doubling = reduce_scatter_block(__name__, scatter_doubling, in_order=True, **DOUBLING_CLAIMS)
