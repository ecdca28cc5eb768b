"""Reduce_scatter by reduce and scatterv: rank 0 computes the whole result and scatters the blocks.

All ranks reduce their operands to rank 0 by the algorithm `reduce`; then rank 0 scatters the blocks of the result by the
algorithm `scatterv`. Blocks may have different sizes.

    p = 4, counts 2, 0, 1, 3, `reduce` and `scatterv` binomial: rank 0 has the result 002333 and sends 2333 to rank 2;
    rank 2 sends 333 to rank 3; rank 1 has an empty block and receives no message

Rounds   sum of both parts    Sent per rank   sum of both parts
         Scratch   sum of both parts; on rank 0 the size of an operand more
Time     sum of both parts
Fits     any p; cases that both parts support
Bits     depend on the operands only
Best     noncommutative ops, and as a baseline
Source   folklore; Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, use it
         between groups
"""

from functools import partial

from collectives.intra.reduce.binomial import reduce_binomial
from collectives.intra.scatterv.binomial import scatterv_binomial
from collectives.patterns.families import reduce_scatter
from collectives.patterns.reduce_scatterv import claims_by_rank_0, reduce_then_scatterv

PARTS = partial(reduce_then_scatterv, reduce=reduce_binomial, scatterv=scatterv_binomial)

reduce_scatter_reduce_scatterv = reduce_scatter(__name__, PARTS, in_order=True, **claims_by_rank_0(PARTS))
