"""Reduce_scatter by a butterfly: first neighbors, then more distant ranks exchange halves, in rank order.

The algorithm is the same as for reduce_scatter_block by a butterfly, but blocks may have different sizes. If p is not a
power of two, some ranks first send their operands to a neighbor. `remaining` specifies which rank of such a pair then
continues, the even or the odd one.

    p = 4, counts 2, 0, 1, 3     rank 1 holds 002333, then ..2333, then ..2... (a digit is an element of the block with that
                                 number). Rank 1 sends block 2 to rank 2, and receives nothing, because block 1 is empty.

Rounds   1 if p = 2; up to floor(log2 p) + 3    Sent per rank   all blocks, or twice that    Scratch   1.5 or 2 operands
Time     (log2 p + 1) t_s + p m t_w + (p-1) m c; for equal blocks of m bytes and p > 2 a power of two, otherwise
         computed from the schedule
Fits     any p; any op, in rank order; remaining "even" or "odd"
Bits     depend on p
Best     noncommutative ops: at most one round more than recursive halving
Source   Träff, An Improved Algorithm for (Non-commutative) Reduce-Scatter with an Application, EuroPVM/MPI 2005; also
         in Open MPI, coll/base, which keeps the odd rank of a pair
"""

from collectives.patterns.butterflies.butterfly import BUTTERFLY_CLAIMS, scatter_butterfly
from collectives.patterns.families import reduce_scatter

reduce_scatter_butterfly = reduce_scatter(__name__, scatter_butterfly, in_order=True, **BUTTERFLY_CLAIMS)
