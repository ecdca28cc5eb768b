"""Scatter by a k-nomial tree: on each level, starting at the root, a rank sends the blocks of k-1 subtrees.

Let v = rank - root (mod p). The parent of rank v is v without its lowest nonzero digit in base k. Rank v receives the blocks
of its subtree, a run of ranks, from its parent, and sends each child the blocks of the child's subtree (`patterns.knomial`,
`patterns.run_trees`).

    p = 4, k = 3    start      1st        2nd        3rd         0 -> 3, 0 -> 2, 0 -> 1
    v = 0           0123       012.       01..       0...
    v = 1           ....       ....       ....       .1..
    v = 2           ....       ....       ..2.       ..2.
    v = 3           ....       ...3       ...3       ...3

Rounds   (k-1) log_k p for powers of k    Sent per rank   m bytes for each rank below it
         Scratch   its subtree's blocks
Time     (k-1) log_k p t_s + (p-1) m t_w; for p a power of k, otherwise computed from the schedule
Fits     any p; k >= 2; blocks of equal size
Best     short blocks where a rank can send several messages at once; with one port, k = 2 has the fewest rounds
Source   Wilkins et al., Generalized Collective Algorithms for the Exascale Era, IEEE CLUSTER 2023,
         doi:10.1109/CLUSTER52292.2023.00013 (derived from the summary in github.com/pmodels/mpich/pull/7177); Open
         MPI's coll/tuned has the broadcast, with k = 4 by default
"""

from collectives.patterns.families import tree_scatter
from collectives.patterns.knomial import full_blocks_time, radix_too_small, tree_of_radix

scatter_knomial = tree_scatter(__name__, tree_of_radix, why_unsupported=radix_too_small, closed_time=full_blocks_time)
