"""Reduce_scatter_block between groups, linear: every rank sends its operand to the other group's leader.

The leaders, rank 0 of each group, exchange their operands. Then each receives the operands of ranks 1, 2, ... of the other
group, one after the other, and combines them in rank order. Each leader scatters the result in its group by `scatter`. The
code does not check that all operands have the same length, as MPI requires.

    p = 4, q = 2      start    exchanged    rank 1    rank 2    rank 3    scattered    (operands in each block; A's are 4)
    a_0               1111     1111         2222      2222      2222      2...
    a_1 a_2 a_3       1111                                                .2.. and so on
    b_0               1111     1111         2222      3333      4444      44..
    b_1               1111                                                ..44

Rounds   max(p, q) + scatter    Sent per rank   all blocks + scatter    Scratch   scatter; on leaders + 2 K
Time     n (t_s + K t_w) + (n-1) K c + scatter; n = max(p, q); all blocks together have K bytes; an upper bound: the
         exact time is computed from the schedule
Fits     any p and q; cases that `scatter` supports; both groups' blocks of the same total size
Bits     depend on the operands only
Best     as a baseline: a leader receives all operands of the other group
Source   Open MPI, ompi/mca/coll/basic/coll_basic_reduce_scatter_block.c: reduce_scatter_block_inter
"""

from collectives.inter_patterns.families import reduce_scatter_block
from collectives.inter_patterns.leader_reduce import reduce_and_scatter, reduce_at_leaders_claims

reduce_scatter_block_linear = reduce_scatter_block(
    __name__, reduce_and_scatter, in_order=True, **reduce_at_leaders_claims(reduce_and_scatter)
)
