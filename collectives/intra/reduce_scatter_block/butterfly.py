"""Reduce_scatter_block by a butterfly: first neighbors, then more distant ranks exchange halves, in rank order.

Let 2^d be the largest power of two that is at most p. First, p - 2^d ranks are folded: they send their operands to a
neighbor (`patterns.folding`), the odd rank of a pair to the even one or, with `remaining="odd"`, the even rank to the
odd one. For k = 0 .. d-1 a remaining rank exchanges data with the rank whose index differs in bit k. Both hold the same
blocks; each of the two sends one half of them and combines the other half. At the end a rank has the result of the
block of another rank, whose index has the same bits in reverse order, and sends the block to that rank
(`patterns.butterflies.butterfly`).

    p = 4     start    k = 0    k = 1    to owners           (blocks to combine)
    rank 0    0123     01..     0...     0...
    rank 1    0123     ..23     ..2.     .1..
    rank 2    0123     01..     .1..     ..2.
    rank 3    0123     ..23     ...3     ...3

Rounds   1 if p = 2; up to floor(log2 p) + 3    Sent per rank   all blocks, or twice that    Scratch   1.5 or 2 operands
Time     (log2 p + 1) t_s + p m t_w + (p-1) m c; if p = 2 or not a power of two, the time is computed from the schedule
Fits     any p; any op, in rank order; blocks of equal size; remaining "even" or "odd"
Bits     depend on p
Best     noncommutative ops: at most one round more than recursive halving
Source   Träff, An Improved Algorithm for (Non-commutative) Reduce-Scatter with an Application, EuroPVM/MPI 2005; also
         in Open MPI, coll/base, which keeps the odd rank of a pair
"""

from collectives.patterns.butterflies.butterfly import BUTTERFLY_CLAIMS, scatter_butterfly
from collectives.patterns.families import reduce_scatter_block

reduce_scatter_block_butterfly = reduce_scatter_block(__name__, scatter_butterfly, in_order=True, **BUTTERFLY_CLAIMS)
