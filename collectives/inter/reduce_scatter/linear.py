"""Reduce_scatter between groups, linear: every rank sends its operand to the other group's leader.

The algorithm is that of reduce_scatter_block linear: the leaders combine the operands, and scatter blocks of different
sizes by `scatterv`.

    p = 4, q = 2, counts 2, 0, 1, 3 of A and 5, 1 of B     a_0 receives 6 elements of b_0 and b_1, and scatters 2, 0, 1, 3

Rounds   max(p, q) + scatterv    Sent per rank   all blocks + scatterv    Scratch   scatterv; on leaders + 2 K
Time     n (t_s + K t_w) + (n-1) K c + scatterv; n = max(p, q); all blocks together have K bytes; an upper bound: the
         exact time is computed from the schedule
Fits     any p and q; cases that `scatterv` supports; both groups' blocks of the same total size
Bits     depend on the operands only
Best     as a baseline: a leader receives all operands of the other group
Source   Open MPI, ompi/mca/coll/basic/coll_basic_reduce_scatter.c: reduce_scatter_inter
"""

from collectives.inter_patterns.families import reduce_scatter
from collectives.inter_patterns.leader_reduce import reduce_and_scatterv, reduce_at_leaders_claims

reduce_scatter_linear = reduce_scatter(
    __name__, reduce_and_scatterv, in_order=True, **reduce_at_leaders_claims(reduce_and_scatterv)
)
