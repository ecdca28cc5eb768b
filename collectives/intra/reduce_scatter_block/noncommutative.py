"""Reduce_scatter_block for noncommutative ops: a butterfly on blocks in mirrored order, with the least data.

A rank first copies the blocks in mirrored order: block b to the position whose bits are those of b in reverse. For k =
0 .. log2 p - 1 it exchanges with the rank whose number differs in bit k: each sends one half of the blocks that both
hold, and combines the other half. In the end it has its own block (`patterns.butterflies.butterfly`).

    p = 4     start    k = 0    k = 1                (blocks to combine)
    rank 0    0213     02..     0...
    rank 1    0213     ..13     ..1.
    rank 2    0213     02..     .2..
    rank 3    0213     ..13     ...3

Rounds   log2 p    Sent per rank   all blocks but its own    Scratch   1.5 operands
Time     log2 p t_s + (p-1) m (t_w + c)
Fits     p a power of two; any op, in rank order; blocks of equal size
Bits     depend on the operands only
Best     short blocks and noncommutative ops: the fewest rounds and the least data
Source   Träff, An Improved Algorithm for (Non-commutative) Reduce-Scatter with an Application, EuroPVM/MPI 2005; MPICH
         has it under this name, and Open MPI as its butterfly
"""

from collectives.patterns.butterflies.butterfly import MIRRORED_CLAIMS, scatter_mirrored
from collectives.patterns.families import reduce_scatter_block

reduce_scatter_block_noncommutative = reduce_scatter_block(__name__, scatter_mirrored, in_order=True, **MIRRORED_CLAIMS)
