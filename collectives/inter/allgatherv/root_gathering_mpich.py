"""Allgatherv between groups by root gathering, as in MPICH: one direction after the other.

The algorithm is that of allgather by root gathering, for blocks of different sizes. A rank knows the sizes in the other
group, by `counts`, but not those in its own. So each group first gathers its sizes to all ranks by `allgather`, one
count of 8 bytes per rank. Then rank 0 of each group collects its group's blocks by `gatherv` (MPICH's is linear: a tree
takes longer if the long blocks are far from the root), both groups at once. The first group's root sends them to the
other root, which broadcasts them in its group by `bcast`; then the same in the other direction. The first group is the
larger one; of two groups of equal size, the one with more data. If the totals are equal too, the caller passes
`first=True` in one group and `first=False` in the other (see `inter_patterns.groups`). The groups can only detect this
after gathering the counts, so the error is raised then.

    p = 4, q = 2, blocks 0 1 22 333 of A, x and y of B
              gathered     a_0 to b_0   bcast in B   b_0 to a_0   bcast in A
    a_0       0122333      ..           ..           xy           xy
    a_1 a_2.. .......      ..           ..           ..           xy
    b_0       xy           0122333      0122333      0122333      0122333
    b_1       ..           .......      0122333      0122333      0122333

Rounds   2 + parts    Sent per rank   parts; on roots + the group's blocks
         Scratch   parts; on roots + the group's blocks; counts
Time     at most (M + 3 K_A + 3 K_B) t_w; K_A and K_B are the totals, M the larger, plus start-ups and counts (Eq. 2),
         if q | K_A and p | K_B; the exact time, for any sizes, is computed from the schedule
Fits     any p and q; cases that its parts support; equal groups need `first`
Best     as a baseline: the allgather's algorithm for blocks of any size
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Eq. 2
"""

from collectives.inter_patterns.root_gathering import allgatherv_in_turn
from collectives.intra.gatherv.linear import gatherv_linear

allgatherv_root_gathering_mpich = allgatherv_in_turn(__name__, gatherv_linear)
