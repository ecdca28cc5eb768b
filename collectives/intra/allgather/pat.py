"""Allgather by PAT (parallel aggregated trees): far ranks first, and at most `aggregation` blocks in a message.

Every block goes down a binomial tree in which the longest edges come first: rank r sends to r + 2^k, r + 2^(k-1), ..., r + 1
(mod p). Let 2^a be the largest power of two that is at most `aggregation`. In the first a rounds a rank sends all blocks
that it has, so each round doubles the number of its blocks. Each block has then reached the roots of 2^a subtrees. These
subtrees are traversed depth first, one edge of each subtree per round, so each message has at most 2^a blocks. The first
messages go to the most distant ranks and are the shortest.

    p = 4     start      1st        2nd        3rd         (aggregation = 1; block 0: 0 -> 2, then 2 -> 3, then 0 -> 1)
    rank 0    0...       0.2.       012.       0123
    rank 1    .1..       .1.3       .123       0123
    rank 2    ..2.       0.2.       0.23       0123
    rank 3    ...3       .1.3       01.3       0123

Rounds   ceil(log2 p) to p-1    Sent per rank   (p-1) m bytes    Scratch   two messages
Time     R t_s + (p-1) m t_w; with a as above, R is ceil(log2 p) if 2^(a+1) >= p, otherwise about
         a + p/2^a - 1
Fits     any p; aggregation > 0; blocks of equal size
Best     short and medium blocks on many ranks, with bounded memory for messages
Source   Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, 2025, arXiv:2506.20252
         (derived from the abstract); in NCCL since 2.23
"""

from collectives.patterns.plans.families import planned_allgather
from collectives.patterns.plans.shifted_plans import pat_plan, positive_aggregation_only

allgather_pat = planned_allgather(__name__, pat_plan, why_unsupported=positive_aggregation_only)
