"""Reduce_scatter_block by reduce and scatter: rank 0 computes the whole result and scatters the blocks.

The algorithm `reduce` leaves the result of all blocks on rank 0, which sends each rank its own by the algorithm `scatter`.
In reduce_scatterv the second part is a scatterv, for which some tuning tables choose another algorithm.
Operands are combined in the order that `reduce` uses.

    p = 4     start    reduced    scattered       (both binomial: two rounds each; number of operands in each block)
    rank 0    1111     4444       4...
    rank 1    1111     1111       .4..
    rank 2    1111     1111       ..4.
    rank 3    1111     1111       ...4

Rounds   sum of both parts    Sent per rank   sum of both parts
         Scratch   sum of both parts; rank 0 an additional operand
Time     sum of both parts; both binomial: 2 ceil(log2 p) t_s + (p ceil(log2 p) + p-1) m t_w + p ceil(log2 p) m c
Fits     any p; cases that both parts support; blocks of equal size
Bits     depend on the operands only
Best     noncommutative ops, and as a baseline
Source   Open MPI, ompi/mca/coll/base/coll_base_reduce_scatter_block.c: reduce_scatter_block_basic_linear
"""

from functools import partial

from collectives.intra.reduce.binomial import reduce_binomial
from collectives.intra.scatter.binomial import scatter_binomial
from collectives.patterns.families import reduce_scatter_block
from collectives.patterns.reduce_scatterv import claims_by_rank_0, reduce_then_scatter

PARTS = partial(reduce_then_scatter, reduce=reduce_binomial, scatter=scatter_binomial)

reduce_scatter_block_reduce_scatter = reduce_scatter_block(__name__, PARTS, in_order=True, **claims_by_rank_0(PARTS))
