"""Reduce_scatter between groups by reduce, exchange and scatter: both groups do the same at the same time.

The algorithm is that of reduce_scatter_block by reduce, exchange and scatter, for blocks of different sizes; no rank
needs the other group's sizes.

    p = 4, q = 2, counts 2, 0, 1, 3 of A and 5, 1 of B     a_0 and b_0 exchange 6 elements; a_0 forwards 1 and 3, b_0 1

Rounds   1 + parts    Sent per rank   parts; on leaders + all blocks    Scratch   parts; on leaders + 2 K
Time     computed from the schedule; with binomial parts (1 + 2 ceil(log2 p)) t_s + (1 + ceil(log2 p) + (p-1)/p) K t_w
         for p = q and equal blocks of K bytes in total
Fits     any p and q; cases that its parts support; both groups' blocks of the same total size
Bits     depend on the operands only
Best     short blocks, especially if one group is much smaller: O(log p) start-ups; and ops that need rank order
Source   fakempi; with one direction after the other it is MPI-2's description, see reduce_then_scatter
"""

from collectives.inter_patterns.families import reduce_scatter
from collectives.inter_patterns.leaders_exchange import exchange_and_scatter, exchange_and_scatter_claims

reduce_scatter_reduce_exchange_scatter = reduce_scatter(
    __name__, exchange_and_scatter, in_order=True, **exchange_and_scatter_claims()
)
