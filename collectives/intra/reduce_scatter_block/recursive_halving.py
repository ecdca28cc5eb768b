"""Reduce_scatter_block by recursive halving: in each round a rank sends one half of its blocks and combines the other.

Let 2^d be the largest power of two that is at most p. First, p - 2^d ranks are folded: they send their operands to a
neighbor (`patterns.folding`), the odd rank of a pair to the even one or, with `remaining="odd"`, the even rank to the odd
one. The other 2^d ranks remain and have the indices 0 .. 2^d - 1. For k = d-1 .. 0 a remaining rank exchanges data with
the rank whose index differs in bit k. It sends the blocks of the ranks in its partner's half and combines the blocks of
the ranks in its own half. At the end it has its block of the result, and also the block of its folded neighbor, if it has
one, which it sends to that neighbor. The code uses a copy of the operand, unless the call is in place.

    p = 4     start    k = 1    k = 0               (blocks that a rank still combines)
    rank 0    0123     01..     0...
    rank 1    0123     01..     .1..
    rank 2    0123     ..23     ..2.
    rank 3    0123     ..23     ...3

Rounds   log2 p, or floor(log2 p) + 2    Sent per rank   all blocks but its own; folded ranks all
         Scratch   1.5 or 2 operands; one less in place; folded ranks none
Time     log2 p t_s + (p-1) m (t_w + c); if p is not a power of two, the time is computed from the schedule
Fits     any p; commutative ops; blocks of equal size; remaining "even" or "odd"
Bits     depend on p
Best     short blocks: fewest rounds; also the least data if p is a power of two
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521; MPICH and Open MPI
         keep the odd rank of a pair
"""

from collectives.patterns.families import reduce_scatter_block
from collectives.patterns.halving import HALVING_CLAIMS, scatter_halves

reduce_scatter_block_recursive_halving = reduce_scatter_block(__name__, scatter_halves, **HALVING_CLAIMS)
