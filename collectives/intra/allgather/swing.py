"""Allgather by Swing: the exchanges of Bine on a torus, in one dimension after the other.

`dims` are the extents of the torus. Without `dims` all ranks are on one ring. In each round a rank exchanges all
blocks that it has with the rank at distance J_s = (1 - (-2)^s) / 3 in one dimension: upward if its coordinate is even,
downward if it is odd. The longest distances come first, and the dimensions alternate (`plans.swing`).

    p = 4     start      1st        2nd         1st: 0 with 3, 1 with 2; 2nd: 0 with 1, 2 with 3
    rank 0    0...       0..3       0123
    rank 1    .1..       .12.       0123
    rank 2    ..2.       .12.       0123
    rank 3    ...3       0..3       0123

Rounds   ceil(log2 p); ceil(log2 (p-1)) + 2 if p > 1 is odd
         Sent per rank   (p-1) m bytes    Scratch   longest messages, packed
Time     ceil(log2 p) t_s + (p-1) m t_w; on one ring of odd length about twice that, computed from the schedule;
         a torus has the sum of ceil(log2 extent) rounds
Fits     any p; the extents in dims are even and their product is p; blocks of equal size
Best     on a torus: messages take few hops, and the longest ones take one
Source   De Sensi, Bonato, Saam, Hoefler, Swing: Short-cutting Rings for Higher Bandwidth Allreduce, NSDI 2024,
         arXiv:2401.09356 (derived from the abstract and the definition of the peers; one of the paper's concurrent
         collectives, since a process has one port here; the rule for odd p is fakempi's)
"""

from collectives.patterns.plans.families import planned_allgather
from collectives.patterns.plans.swing import even_or_torus, swing_plan, valid_dims_only

allgather_swing = planned_allgather(__name__, swing_plan, symmetric=even_or_torus, why_unsupported=valid_dims_only)
