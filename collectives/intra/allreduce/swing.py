"""Allreduce by Swing: a reduce-scatter on a torus between pairs at negabinary distances, then an allgather by these pairs.

The message is cut into p nearly equal pieces. `dims` are the extents of the torus; without `dims` all ranks are on one ring.
In the first rounds a rank exchanges data with a neighbor in each dimension, and then with ranks at the distances J_s = 1,
-1, 3, -5, ...: upward if its coordinate is even, downward if it is odd. Each of the two sends the pieces that the other
keeps, and combines the received pieces with those that it keeps. Then the same pairs exchange the results, in the reverse
order of rounds (`plans.swing`, `plans.block_plans`).

    p = 4     start    1st      2nd        3rd      4th         (pieces to combine, then pieces of the result)
    rank 0    0123     0..3     0...       0..3     0123
    rank 1    0123     .12.     .1..       .12.     0123
    rank 2    0123     .12.     ..2.       .12.     0123
    rank 3    0123     0..3     ...3       0..3     0123

Rounds   2 ceil(log2 p); 2 ceil(log2 (p-1)) + 4 if p > 1 is odd
         Sent per rank   about 2 m bytes    Scratch   about 2 m bytes
Time     2 q t_s + (p-1)/p m (2 t_w + c); q = ceil(log2 p), or on a torus the sum of ceil(log2 extent). On one ring
         of odd length the time is about twice that. If p is odd or does not divide the message, it is computed from
         the schedule
Fits     any p; the extents in dims are even and their product is p; commutative ops
Bits     equal on all ranks; depend on p, position
Best     long messages on a torus: few rounds, messages take few hops, and the longest ones take one
Source   De Sensi, Bonato, Saam, Hoefler, Swing: Short-cutting Rings for Higher Bandwidth Allreduce, NSDI 2024,
         arXiv:2401.09356 (derived from the abstract and the definition of the peers; one of the paper's concurrent
         collectives, since a process has one port here; the rule for odd p is fakempi's)
"""

from collectives.patterns.plans.families import planned_allreduce
from collectives.patterns.plans.swing import even_or_torus, swing_plan, valid_dims_only

allreduce_swing = planned_allreduce(__name__, swing_plan, symmetric=even_or_torus, why_unsupported=valid_dims_only)
