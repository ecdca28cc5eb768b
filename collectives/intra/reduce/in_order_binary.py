"""Reduce by an in-order binary tree: subtrees are runs of ranks, so that operands are combined in rank order.

The last rank of a run of ranks receives the result of the ranks directly before it, then that of the lower half of the run,
and combines each on the left of its own (`patterns.binary_trees`). Segments follow each other as in the reduce by a binary
tree. The root of the tree is rank p-1, which sends the result to the root of the call.

    p = 4, n = 1    start   1st     2nd     3rd         0 -> 1, 2 -> 3, 1 -> 3
    rank 0          0       .       .       .
    rank 1          1       01      01      .
    rank 2          2       .       .       .
    rank 3          3       23      23      0123

Rounds   about 2 (n-1) + d    Sent per rank   m bytes    Scratch   m + a segment; leaves none
Time     computed from the schedule; about (2 (n-1) + d) (t_s + b (t_w + c)) for n segments of b bytes, and t_s + m t_w
         more if the root is not p-1; d is the largest number of steps to a rank
Fits     any p; any op, in rank order; segment_bytes > 0
Bits     depend on p
Best     noncommutative ops with messages of medium length on many ranks
Source   Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster Computing 10 (2007),
         doi:10.1007/s10586-007-0012-0; the tree is that of Open MPI's coll/base
"""

from collectives.catalogue.conditions import positive_segments_only
from collectives.patterns.binary_trees.segments import Upward, segmented_reduce
from collectives.patterns.binary_trees.shapes import in_order

reduce_in_order_binary = segmented_reduce(
    __name__, lambda root, p: Upward(in_order, 0, p - 1), why_unsupported=positive_segments_only, in_order=True
)
