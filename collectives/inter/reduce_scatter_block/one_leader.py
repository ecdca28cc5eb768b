"""Reduce_scatter_block between groups by one leader: it receives along a chain of the larger group while it sends blocks.

The smaller group reduces to its rank 0 by `reduce`. Then the larger group's operands move up a chain of its ranks to
this leader in segments, while the leader sends pieces of each rank's block to that rank, in rounds in which it receives
nothing else (`inter_patterns.chain_and_star`). At the end the leader scatters the received result in its own group by
`scatterv`. If the groups have equal size, the caller passes `first=False` in the group that has the leader, and
`first=True` in the other. The code does not check that all operands have the same length, as MPI requires. Operands are
combined in the order that `reduce` uses.

    p = 4, q = 1, one piece per block, 4 segments      round 0    1     2     3     4     5     6     7
    a_3 to a_2                                               0          1     2     3
    a_2 to a_1                                                    0           1     2     3
    a_1 to a_0                                                          0           1     2     3
    a_0 to b_0                                                                0           1     2     3
    b_0 to                                                   a_3  a_2   a_1   a_0

Rounds   given by the schedule    Sent per rank   parts; + K on the leader and on ranks of the chain
         Scratch   2 segments; on the leader + 2 K
Time     computed from the schedule; if the smaller group has one rank about (1 + 1/q + 1/c) K t_w + (c (q+1) + q) t_s,
         where all blocks together have K bytes, the larger group has q ranks and c = sqrt(K t_w / ((q+1) t_s))
Fits     any p and q; any op, in rank order; cases that its parts support; startup_bytes > 0; equal groups need `first`
Bits     depend on p
Best     long blocks between one rank and three or more: the lower bound is K t_w; an even cut takes 2 K t_w
Source   fakempi
"""

from collectives.inter_patterns.families import reduce_scatter_block
from collectives.inter_patterns.one_leader import by_one_leader, one_leader_claims

reduce_scatter_block_one_leader = reduce_scatter_block(
    __name__, by_one_leader, in_order=True, **one_leader_claims(sends_sizes=False)
)
