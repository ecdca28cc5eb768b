"""Reduce_scatter_block by Bine: pairs at negabinary distances send each other half of their range of blocks.

The allgather by Bine in reverse: in the round of distance J_s = (1 - (-2)^s) / 3, s = 1 .. ceil(log2 p), an even rank r
exchanges with r + J_s, an odd rank with r - J_s (mod p), and combines the blocks that remain in its range. The longest
messages go to neighbors (`plans.swing`, `plans.block_plans`).

    p = 4     start    1st      2nd         (blocks to combine; 1st: 0 with 1, 2 with 3; 2nd: 0 with 3, 1 with 2)
    rank 0    0123     0..3     0...
    rank 1    0123     .12.     .1..
    rank 2    0123     .12.     ..2.
    rank 3    0123     0..3     ...3

Rounds   ceil(log2 p); ceil(log2 (p-1)) + 2 if p > 1 is odd
         Sent per rank   all blocks but its own    Scratch   about 1.5 operands
Time     ceil(log2 p) t_s + (p-1) m (t_w + c); if p is odd, about twice that, computed from the schedule
Fits     any p; commutative ops; blocks of equal size
Bits     depend on p, position
Best     where neighboring ranks are close: least data and fewest rounds for even p, few bytes between groups
Source   De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler, Bine Trees: Enhancing Collective
         Operations by Optimizing Communication Locality, SC 2025, arXiv:2508.17311, doi:10.1145/3712285.3759835
         (derived from the abstract; if p is not a power of two, as in Swing)
"""

from collectives.patterns.plans.families import planned_reduce_scatter_block
from collectives.patterns.plans.swing import bine_plan, even_or_torus

reduce_scatter_block_bine = planned_reduce_scatter_block(__name__, bine_plan, symmetric=even_or_torus)
