"""Reduce_scatter_block between groups as in WMPI: a reduce in each group, then each leader scatters to the other group.

The leaders, rank 0 of each group, exchange the block size of their groups, 8 bytes. Each group reduces to its leader by
`reduce`, both at once. Then each leader sends the ranks of the other group their blocks, again both at once; ranks that
are ready first are served first. This is one hop less than a reduce between groups and a scatter within. In addition to
the paper, a leader broadcasts the total size of the other group's blocks (8 bytes) in its group by `bcast` after the
reduce; if it differs from that of its own group's blocks, every rank raises ValueError. Operands are combined in the
order that `reduce` uses.

    p = 4, q = 2      start    reduced    scattered       (number of operands in each block; there are 4 blocks)
    a_0               1111     4444       2...
    a_1 a_2 a_3       1111     1111       .2.. and so on
    b_0               1111     2222       44..
    b_1               1111     1111       ..44

Rounds   1 + q + parts    Sent per rank   parts; on leaders + all blocks    Scratch   parts; on leaders + all blocks
Time     parts + (q+1) t_s + (8 + q m) t_w; for p = q and binomial parts; otherwise computed from the schedule
Fits     any p and q; cases that its parts support; both groups' blocks of the same total size
Bits     depend on the operands only
Best     short operands, and ops that need rank order
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from collectives.inter_patterns.families import reduce_scatter_block
from collectives.inter_patterns.leader_scatter import leader_scatter_claims, reduce_and_scatter_across

reduce_scatter_block_wmpi = reduce_scatter_block(
    __name__, reduce_and_scatter_across, in_order=True, **leader_scatter_claims(all_sizes=False)
)
