"""Allgather by Bine: pairs at negabinary distances exchange all blocks that they have, the longest distance first.

In the round of distance J_s = (1 - (-2)^s) / 3, s = ceil(log2 p) .. 1, an even rank r exchanges with r + J_s, an odd rank
with r - J_s (mod p). The distances 1, 1, 3, 5, 11, ... are about 2^s / 3, and the longest messages go to neighbors, so
fewer bytes leave a group of neighboring ranks than by recursive doubling (`plans.swing`: on one ring the rounds of
Bine and Swing are the same). If p is not a power of two, a block that a rank has already is not sent again.

    p = 4     start      1st        2nd         1st: 0 with 3, 1 with 2; 2nd: 0 with 1, 2 with 3
    rank 0    0...       0..3       0123
    rank 1    .1..       .12.       0123
    rank 2    ..2.       .12.       0123
    rank 3    ...3       0..3       0123

Rounds   ceil(log2 p); ceil(log2 (p-1)) + 2 if p > 1 is odd
         Sent per rank   (p-1) m bytes    Scratch   longest messages, packed
Time     ceil(log2 p) t_s + (p-1) m t_w; if p is odd, about twice that, computed from the schedule
Fits     any p; blocks of equal size
Best     where neighboring ranks are close: least data and fewest rounds for even p, few bytes between groups
Source   De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler, Bine Trees: Enhancing Collective
         Operations by Optimizing Communication Locality, SC 2025, arXiv:2508.17311, doi:10.1145/3712285.3759835
         (derived from the abstract; if p is not a power of two, as in Swing)
"""

from collectives.patterns.plans.families import planned_allgather
from collectives.patterns.plans.swing import bine_plan, even_or_torus

allgather_bine = planned_allgather(__name__, bine_plan, symmetric=even_or_torus)
