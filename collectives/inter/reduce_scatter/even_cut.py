"""Reduce_scatter between groups by an even cut: each group reduces in pieces, which are sent directly to their owners.

The algorithm is that of reduce_scatter_block by an even cut, for blocks of different sizes. The leaders, rank 0 of each
group, first exchange all block sizes of their groups, 8 bytes per rank, and broadcast them in their groups by `bcast`.
If the total sizes of the groups' blocks differ, every rank raises ValueError.

    p = 4, q = 2, counts 2, 0, 1, 3 of A and 5, 1 of B     pieces 00, 11, 2 and 3 of A: b_0 gets 00, 11 and 2, b_1 gets 3

Rounds   no closed form    Sent per rank   pieces + parts    Scratch   own piece + parts; block sizes
Time     about K t_w + the largest block; all blocks together have K bytes; plus start-ups and 8 (p + q) bytes: the
         exact time is computed from the schedule. All sends are synchronous, so the time does not depend on buffering
Fits     any p and q; cases that its parts support; both groups' blocks of the same total size;
         receive_order "multi_target" or "rank"
Bits     depend on p, position
Best     long blocks: the lower bound is K t_w; twice that if one rank has all blocks of its group
Source   fakempi; the exchange: Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI
         Intergroup Allgather and Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2
"""

from collectives.inter_patterns.families import reduce_scatter
from collectives.inter_patterns.reduce_and_deliver import deliver_any, delivery_claims

reduce_scatter_even_cut = reduce_scatter(__name__, deliver_any, **delivery_claims(deliver_any))
