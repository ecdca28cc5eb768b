"""Reduce_scatter between groups by one leader: it receives along a chain of the larger group while it sends blocks.

The algorithm is that of reduce_scatter_block by one leader, for blocks of different sizes: rank 0 of the larger group
first sends the leader the sizes of its group's blocks, 8 bytes per rank.

    p = 4, q = 1, counts 2, 0, 1, 3 of A     a_0 sends these to b_0; then as with equal blocks, and a_1 receives none

Rounds   given by the schedule    Sent per rank   parts; + K on the leader and on ranks of the chain
         Scratch   2 segments; on the leader + 2 K
Time     computed from the schedule; t_s + 8 q t_w more than reduce_scatter_block if all blocks have equal size
Fits     any p and q; any op, in rank order; cases that its parts support; startup_bytes > 0; equal groups need `first`
Bits     depend on p
Best     long blocks between one rank and three or more: the lower bound is K t_w; an even cut takes 2 K t_w
Source   fakempi
"""

from collectives.inter_patterns.families import reduce_scatter
from collectives.inter_patterns.one_leader import by_one_leader, one_leader_claims

reduce_scatter_one_leader = reduce_scatter(__name__, by_one_leader, in_order=True, **one_leader_claims(sends_sizes=True))
