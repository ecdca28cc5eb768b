"""Allreduce by k-ring: a reduce-scatter on rings within groups and a ring of groups, then the allgather by k-ring.

The message is cut into p nearly equal pieces. The allgather by k-ring in reverse reduces each piece on one rank, and the
allgather distributes the results (`plans.k_ring`, `plans.block_plans`), so all ranks receive the same result.

    p = 4, k = 2    start    within   between  within      within   between  within     (operands in each piece, then pieces)
    rank 0          1111     112.     31..     4...        01..     012.     0123
    rank 1          1111     11.2     13..     .4..        01..     01.3     0123
    rank 2          1111     2.11     ..31     ..4.        ..23     0.23     0123
    rank 3          1111     .211     ..13     ...4        ..23     .123     0123

Rounds   2 (p-1)    Sent per rank   about 2 m bytes    Scratch   m/p bytes
Time     2 (p-1) t_s + (p-1)/p m (2 t_w + c); if p does not divide the message, the time is computed from the schedule
Fits     k divides p; commutative ops
Bits     equal on all ranks; depend on p, position
Best     long messages where the ranks of a node or group share fast links and each has a link to the next group
Source   Wilkins et al., Generalized Collective Algorithms for the Exascale Era, IEEE CLUSTER 2023,
         doi:10.1109/CLUSTER52292.2023.00013 (derived from summaries; github.com/pmodels/mpich/pull/7177 links to it)
"""

from collectives.patterns.plans.families import planned_allreduce
from collectives.patterns.plans.k_ring import divides_ranks_only, k_ring_plan

allreduce_k_ring = planned_allreduce(__name__, k_ring_plan, why_unsupported=divides_ranks_only)
