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

from collectives.patterns.families import reduce_scatter
from collectives.patterns.halving import HALVING_CLAIMS, scatter_halves

reduce_scatter_recursive_halving = reduce_scatter(__name__, scatter_halves, **HALVING_CLAIMS)
