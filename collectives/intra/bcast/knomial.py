"""Broadcast by a k-nomial tree: a rank that has the message sends it to k-1 ranks on each level.

Let v = rank - root (mod p), and let w be the highest power of k that divides v (for v = 0, the smallest that is at least p).
Rank v receives from the rank whose number in base k is that of v with the lowest nonzero digit set to 0. Then it sends to
v + j w/k for j = k-1 .. 1, then to v + j w/k^2, and so on, as far as these are less than p (`patterns.knomial`). With
`order="ascending"`, j is 1 .. k-1.

    p = 4, k = 3    start   1st     2nd     3rd         0 -> 3, 0 -> 2, 0 -> 1
    v = 0           x       x       x       x
    v = 1           .       .       .       x
    v = 2           .       .       x       x
    v = 3           .       x       x       x

Rounds   (k-1) log_k p for powers of k    Sent per rank   m bytes to each child    Scratch   none
Time     (k-1) log_k p (t_s + m t_w); for p a power of k, otherwise computed from the schedule
Fits     any p; k >= 2
Best     short messages where a rank can send several messages at once; with one port, k = 2 has the fewest rounds
Source   Wilkins et al., Generalized Collective Algorithms for the Exascale Era, IEEE CLUSTER 2023,
         doi:10.1109/CLUSTER52292.2023.00013 (derived from the summary in github.com/pmodels/mpich/pull/7177); Open
         MPI's coll/tuned has the broadcast, with k = 4 and ascending order
"""

from collectives.patterns.knomial import full_message_time, ordered_tree, radix_too_small
from collectives.patterns.run_tree_messages import tree_bcast

bcast_knomial = tree_bcast(__name__, ordered_tree, why_unsupported=radix_too_small, closed_time=full_message_time)
