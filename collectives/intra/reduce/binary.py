"""Reduce by a pipelined binary tree: every rank combines segments of two ranks with its own and sends them to its parent.

The broadcast by a binary tree in reverse: with v = rank - root (mod p), rank v on level l = floor(log2(v+1)) receives a
segment from v + 2^l, then from v + 2^(l+1), and sends the combined segment to its parent while it receives the next one
(`patterns.binary_trees`).

    p = 4, n = 1    start   1st     2nd     3rd         3 -> 1, 1 -> 0, 2 -> 0
    v = 0           0       0       013     0123
    v = 1           1       13      .       .
    v = 2           2       2       2       .
    v = 3           3       .       .       .

Rounds   about 2 (n-1) + d    Sent per rank   m bytes, the root none    Scratch   m + a segment; leaves none
Time     computed from the schedule; about (2 (n-1) + d) (t_s + b (t_w + c)) for n segments of b bytes; d is the number
         of steps of the broadcast by a binary tree
Fits     any p; commutative ops; segment_bytes > 0
Bits     depend on root
Best     messages of medium length on many ranks: fewer steps than a chain; a rank receives everything twice
Source   Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster Computing 10 (2007),
         doi:10.1007/s10586-007-0012-0; the tree is that of Open MPI's coll/base
"""

from collectives.catalogue.conditions import all_of, commutative_only, positive_segments_only
from collectives.patterns.binary_trees.segments import Upward, segmented_reduce
from collectives.patterns.binary_trees.shapes import by_levels

reduce_binary = segmented_reduce(
    __name__, lambda root, p: Upward(by_levels, root, root), why_unsupported=all_of(positive_segments_only, commutative_only)
)
