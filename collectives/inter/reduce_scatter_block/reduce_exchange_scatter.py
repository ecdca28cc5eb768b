"""Reduce_scatter_block between groups by reduce, exchange and scatter: both groups do the same at the same time.

Each group reduces to its rank 0, its leader, by `reduce`. The leaders exchange their results, both directions at once.
Each scatters the received result in its group by `scatterv`. The code does not check that all operands have the same
length, as MPI requires. Operands are combined in the order that `reduce` uses.

    p = 4, q = 2      start    reduced    exchanged    scattered       (operands in each block; there are 4 blocks)
    a_0               1111     4444       2222         2...
    a_1 a_2 a_3       1111                             .2.. and so on
    b_0               1111     2222       4444         44..
    b_1               1111                             ..44

Rounds   1 + parts    Sent per rank   parts; on leaders + all blocks    Scratch   parts; on leaders + 2 K
Time     computed from the schedule; with binomial parts (1 + 2 ceil(log2 p)) t_s + (1 + ceil(log2 p) + (p-1)/p) K t_w
         for p = q and equal blocks of K bytes in total
Fits     any p and q; cases that its parts support; both groups' blocks of the same total size
Bits     depend on the operands only
Best     short blocks, especially if one group is much smaller: O(log p) start-ups; and ops that need rank order
Source   fakempi; with one direction after the other it is MPI-2's description, see reduce_then_scatter
"""

from collectives.inter_patterns.families import reduce_scatter_block
from collectives.inter_patterns.leaders_exchange import exchange_and_scatter, exchange_and_scatter_claims

reduce_scatter_block_reduce_exchange_scatter = reduce_scatter_block(
    __name__, exchange_and_scatter, in_order=True, **exchange_and_scatter_claims()
)
