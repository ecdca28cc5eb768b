"""Allreduce by Bine: a reduce-scatter between pairs at negabinary distances, then an allgather between the same pairs.

The message is cut into p nearly equal pieces. The distances J_s = 1, -1, 3, -5, ... each have one round, in which an even
rank r exchanges data with r + J_s and an odd rank r with r - J_s (mod p). Each of the two sends the pieces that the other
keeps, and combines the received pieces with those that it keeps. Then the same pairs exchange the results, in the reverse
order of rounds (`plans.swing`, `plans.block_plans`). Each piece is completed on one rank, so all ranks receive the same
result.

    p = 4     start    1st      2nd        3rd      4th         (pieces to combine, then pieces of the result)
    rank 0    0123     0..3     0...       0..3     0123
    rank 1    0123     .12.     .1..       .12.     0123
    rank 2    0123     .12.     ..2.       .12.     0123
    rank 3    0123     0..3     ...3       0..3     0123

Rounds   2 ceil(log2 p); 2 ceil(log2 (p-1)) + 4 if p > 1 is odd
         Sent per rank   about 2 m bytes    Scratch   about 2 m bytes
Time     2 q t_s + (p-1)/p m (2 t_w + c); q = ceil(log2 p). If p is odd, the time is about twice that. If p is odd or
         the pieces differ in size, it is computed from the schedule
Fits     any p; commutative ops
Bits     equal on all ranks; depend on p, position
Best     long messages on networks in which neighboring ranks are close: as many rounds and bytes as Rabenseifner's
         algorithm, for all even p, and fewer bytes between distant ranks
Source   De Sensi, Pasqualoni, Piarulli, Bonato, Ba, Turisini, Domke, Hoefler, Bine Trees: Enhancing Collective
         Operations by Optimizing Communication Locality, SC 2025, arXiv:2508.17311, doi:10.1145/3712285.3759835
         (derived from the abstract; if p is not a power of two, as in Swing)
"""

from collectives.patterns.plans.families import planned_allreduce
from collectives.patterns.plans.swing import bine_plan, even_or_torus

allreduce_bine = planned_allreduce(__name__, bine_plan, symmetric=even_or_torus)
