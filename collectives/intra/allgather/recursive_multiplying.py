"""Allgather by recursive multiplying: groups of k ranks exchange their blocks, then groups of groups, and so on.

The algorithm is recursive doubling with k-1 partners in each phase: ranks whose index differs only in one digit in base
k exchange all blocks that they have. If p is not j k^d with j < k, some ranks are folded, so that such a number
remains: a folded rank first sends its block to a neighbor, and receives all other blocks at the end
(`plans.multiplying`).

    p = 4, k = 4    start      1st        2nd        3rd
    rank 0          0...       0..3       0.23       0123
    rank 1          .1..       01..       01.3       0123
    rank 2          ..2.       .12.       012.       0123
    rank 3          ...3       ..23       .123       0123

Rounds   (k-1) log_k p for powers of k    Sent per rank   (p-1) m bytes    Scratch   none; folded ranks p blocks
Time     R t_s + (p-1) m t_w; R is the sum of j-1 over the phases of j ranks; if ranks are folded, the time is computed
         from the schedule
Fits     any p; k >= 2; blocks of equal size
Best     short blocks where a rank can send several messages at once; with one port, k = 2 has the fewest rounds
Source   Wilkins et al., Generalized Collective Algorithms for the Exascale Era, IEEE CLUSTER 2023,
         doi:10.1109/CLUSTER52292.2023.00013 (derived from the summary in github.com/pmodels/mpich/pull/7177, which
         links to it; the rule for p that are not a power of k is fakempi's)
"""

from collectives.patterns.knomial import radix_too_small
from collectives.patterns.plans.families import planned_allgather
from collectives.patterns.plans.multiplying import multiplying_plan, nobody_folded

allgather_recursive_multiplying = planned_allgather(
    __name__, multiplying_plan, symmetric=nobody_folded, why_unsupported=radix_too_small
)
