"""Allgatherv between groups by root gathering with a ring: the blocks travel to the roots from neighbor to neighbor.

The algorithm is that of allgatherv by root gathering as in MPICH, but the blocks reach the root of a group along a
ring: every rank forwards the blocks from its right neighbor to its left neighbor. If all links and all blocks are
equal, this takes no longer than a tree; if one link of the ring is slow, or one block long, every step waits for it.
Kang et al. use it to explain why they measured up to 23.67 times the time of their algorithm at 256 nodes, where the
model predicts 7 times.

    p = 4, blocks 0 1 22 333 of A     a_3 -> a_2 -> a_1 -> a_0, one block per step: 0, 01, 0122, 0122333; then as in MPICH

Rounds   2 + parts    Sent per rank   parts; on roots + the group's blocks
         Scratch   parts; on roots + the group's blocks; counts
Time     at most (M + 3 K_A + 3 K_B) t_w; K_A and K_B are the totals, M the larger, plus start-ups and counts (Eq. 2),
         for equal blocks, q | K_A and p | K_B; the exact time, for any sizes, is computed from the schedule
Fits     any p and q; cases that its parts support; equal groups need `first`
Best     as a baseline: the observed behavior of MPICH
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, section 5
"""

from collectives.inter_patterns.root_gathering import allgatherv_in_turn
from collectives.intra.gatherv.ring import gatherv_ring

allgatherv_root_gathering_ring = allgatherv_in_turn(__name__, gatherv_ring)
