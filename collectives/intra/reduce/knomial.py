"""Reduce by a k-nomial tree: a rank combines the results of k-1 ranks on each level, from single ranks up to the root.

The broadcast by a k-nomial tree in reverse: with v = rank - root (mod p), rank v combines the results of v+1, ..., v+k-1,
then those of v + k, v + 2 k, ..., below its lowest nonzero digit in base k (`patterns.knomial`). For a noncommutative op
the tree is that of root 0, which preserves rank order, and rank 0 sends the result to the root.

    p = 4, k = 3    start   1st     2nd     3rd         1 -> 0, 2 -> 0, 3 -> 0
    v = 0           0       01      012     0123
    v = 1           1       .       .       .
    v = 2           2       2       .       .
    v = 3           3       3       3       .

Rounds   (k-1) log_k p for powers of k    Sent per rank   m bytes, the root none
         Scratch   2 m; leaves none, the root m
Time     (k-1) log_k p (t_s + m t_w + m c); for p a power of k, otherwise computed from the schedule; plus t_s + m t_w
         if the op is not commutative and the root is not 0
Fits     any p; any op, in rank order; k >= 2
Bits     depend on root
Best     short messages where a rank can receive several messages at once; with one port, k = 2 has the fewest rounds
Source   Wilkins et al., Generalized Collective Algorithms for the Exascale Era, IEEE CLUSTER 2023,
         doi:10.1109/CLUSTER52292.2023.00013 (derived from the summary in github.com/pmodels/mpich/pull/7177); Open
         MPI's coll/tuned has the broadcast, with k = 4 by default
"""

from collectives.patterns.knomial import full_rounds, radix_too_small, tree_of_radix
from collectives.patterns.run_tree_messages import tree_reduce

reduce_knomial = tree_reduce(__name__, tree_of_radix, full_rounds, why_unsupported=radix_too_small)
