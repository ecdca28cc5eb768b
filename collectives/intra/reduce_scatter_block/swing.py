"""Reduce_scatter_block by Swing: the exchanges of Bine on a torus, in one dimension after the other.

The allgather by Swing in reverse: in the first round a rank exchanges with a neighbor in the first dimension of `dims`, in
the second with a neighbor in the second dimension, and so on, then at the next distance of J_s = 1, -1, 3, -5, ... in each
dimension; it combines the blocks that remain in its range (`plans.swing`, `plans.block_plans`).

    p = 4     start    1st      2nd         (blocks to combine; 1st: 0 with 1, 2 with 3; 2nd: 0 with 3, 1 with 2)
    rank 0    0123     0..3     0...
    rank 1    0123     .12.     .1..
    rank 2    0123     .12.     ..2.
    rank 3    0123     0..3     ...3

Rounds   ceil(log2 p); ceil(log2 (p-1)) + 2 if p > 1 is odd
         Sent per rank   all blocks but its own    Scratch   about 1.5 operands
Time     ceil(log2 p) t_s + (p-1) m (t_w + c); one ring of odd length: about twice that, computed from the schedule; a
         torus has the sum of ceil(log2 extent) rounds
Fits     any p; the extents in dims are even and their product is p; commutative ops; blocks of equal size
Bits     depend on p, position
Best     on a torus: messages take few hops, and the longest ones take one
Source   De Sensi, Bonato, Saam, Hoefler, Swing: Short-cutting Rings for Higher Bandwidth Allreduce, NSDI 2024,
         arXiv:2401.09356 (derived from the abstract and the definition of the peers; one of the paper's concurrent
         collectives, since a process has one port here; the rule for odd p is fakempi's)
"""

from collectives.patterns.plans.families import planned_reduce_scatter_block
from collectives.patterns.plans.swing import even_or_torus, swing_plan, valid_dims_only

reduce_scatter_block_swing = planned_reduce_scatter_block(
    __name__, swing_plan, symmetric=even_or_torus, why_unsupported=valid_dims_only
)
