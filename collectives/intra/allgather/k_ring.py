"""Allgather by k-ring: rings within groups of k ranks, and a ring of groups that all k ranks of a group use.

Ranks g k .. g k + k-1 are group g. Each group first gathers its own blocks by a ring. Then it receives the blocks of the
other groups, one group after the other, the nearest one before it first: rank i of the group receives one of the k blocks
from rank i of the previous group, and k-1 rounds of a ring distribute them within the group. For k = 1 and k = p it is the
ring.

    p = 4, k = 2    start      within     between    within
    rank 0          0...       01..       012.       0123
    rank 1          .1..       01..       01.3       0123
    rank 2          ..2.       ..23       0.23       0123
    rank 3          ...3       ..23       .123       0123

Rounds   p-1    Sent per rank   (p-1) m bytes    Scratch   none
Time     (p-1) (t_s + m t_w)
Fits     k divides p; blocks of equal size
Best     long blocks where the ranks of a node or group share fast links and each has a link to the next group
Source   Wilkins et al., Generalized Collective Algorithms for the Exascale Era, IEEE CLUSTER 2023,
         doi:10.1109/CLUSTER52292.2023.00013 (derived from summaries; github.com/pmodels/mpich/pull/7177 links to it)
"""

from collectives.patterns.plans.families import planned_allgather
from collectives.patterns.plans.k_ring import divides_ranks_only, k_ring_plan

allgather_k_ring = planned_allgather(__name__, k_ring_plan, why_unsupported=divides_ranks_only)
