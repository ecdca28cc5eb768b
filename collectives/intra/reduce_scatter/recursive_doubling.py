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

from collectives.patterns.butterflies.doubling import DOUBLING_CLAIMS, scatter_doubling
from collectives.patterns.families import reduce_scatter

reduce_scatter_recursive_doubling = reduce_scatter(__name__, scatter_doubling, in_order=True, **DOUBLING_CLAIMS)
