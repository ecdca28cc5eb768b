"""Reduce_scatter between groups as in WMPI: a reduce in each group, then each leader scatters to the other group.

The algorithm is that of reduce_scatter_block wmpi, but the leaders exchange all block sizes of their groups, 8 bytes
per rank.

    p = 4, q = 2, counts 2, 0, 1, 3 of A and 5, 1 of B     b_0 sends 2, 1 and 3 elements, a_0 sends 5 and 1

Rounds   1 + q + parts    Sent per rank   parts; on leaders + all blocks    Scratch   parts; on leaders + all blocks
Time     parts + (q+1) t_s + (8 p + q m) t_w; for p = q, equal blocks and binomial parts; otherwise computed from the
         schedule
Fits     any p and q; cases that its parts support; both groups' blocks of the same total size
Bits     depend on the operands only
Best     short operands, and ops that need rank order
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from collectives.inter_patterns.families import reduce_scatter
from collectives.inter_patterns.leader_scatter import leader_scatter_claims, reduce_and_scatter_across

reduce_scatter_wmpi = reduce_scatter(
    __name__, reduce_and_scatter_across, in_order=True, **leader_scatter_claims(all_sizes=True)
)
