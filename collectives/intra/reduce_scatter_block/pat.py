"""Reduce_scatter_block by PAT (parallel aggregated trees): near ranks first, with memory for a few partial results.

The allgather by PAT in reverse: the operands of a block go up a binomial tree to its owner, the shortest edges first, with
at most `aggregation` blocks in a message. Subtrees are traversed depth first, so a rank keeps at most about
`aggregation` log2 p partial results at a time, for any size of the whole operand (`plans.block_plans`).

    p = 4     start    1st      2nd      3rd         (aggregation = 1: number of operands in each block)
    rank 0    1111     211.     2.2.     4...        for block 0: 1 -> 0, then 3 -> 2, then 2 -> 0
    rank 1    1111     .211     .2.2     .4..
    rank 2    1111     1.21     2.2.     ..4.
    rank 3    1111     11.2     .2.2     ...4

Rounds   ceil(log2 p) to p-1    Sent per rank   all blocks but its own    Scratch   messages, partial results
Time     R t_s + (p-1) m (t_w + c); with a = floor(log2 aggregation), R is ceil(log2 p) if 2^(a+1) >= p, otherwise about
         a + p/2^a - 1
Fits     any p; aggregation > 0; commutative ops; blocks of equal size
Bits     depend on p, position
Best     short and medium blocks at scale: few rounds with a bounded amount of memory
Source   Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, 2025, arXiv:2506.20252
         (derived from the abstract); in NCCL since 2.23
"""

from collectives.patterns.plans.families import planned_reduce_scatter_block
from collectives.patterns.plans.shifted_plans import pat_plan, positive_aggregation_only

reduce_scatter_block_pat = planned_reduce_scatter_block(__name__, pat_plan, why_unsupported=positive_aggregation_only)
