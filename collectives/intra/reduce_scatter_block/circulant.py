"""Reduce_scatter_block on a circulant graph: ceil(log2 p) rounds and the least data for any p.

This is the allgather on a circulant graph in reverse. Rank r rotates its operand, so that its own block is the first, and
holds a run of p blocks. Let q = ceil(log2 p), with the skips s_q = p and s_k = ceil(s_(k+1) / 2). In round k = q-1 .. 0 rank
r sends the partial results of the last s_(k+1) - s_k blocks of its run to r + s_k. It combines the results that it receives
from r - s_k with the first blocks of its run (`patterns.runs`, `patterns.circulant`).

    p = 4     start    k = 1    k = 0               (number of operands combined in each block)
    rank 0    1111     22..     4...
    rank 1    1111     .22.     .4..
    rank 2    1111     ..22     ..4.
    rank 3    1111     2..2     ...4

Rounds   ceil(log2 p)    Sent per rank   all blocks but its own    Scratch   about 1.5 operands
Time     ceil(log2 p) t_s + (p-1) m (t_w + c)
Fits     any p; commutative ops; blocks of equal size
Bits     depend on p, position
Best     all cases, in this model, if the op is commutative: fewest rounds and least data for any p; needs a rotated
         copy
Source   Träff, Optimal, Non-pipelined Reduce-scatter and Allreduce Algorithms, 2024, arXiv:2410.14234
"""

from functools import partial

from collectives.patterns.circulant import skips
from collectives.patterns.families import reduce_scatter_block
from collectives.patterns.runs import scatter_runs, shrinking

reduce_scatter_block_circulant = reduce_scatter_block(__name__, partial(scatter_runs, skips), **shrinking(skips))
