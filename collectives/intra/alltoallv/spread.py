"""Alltoallv by spreading out: every rank sends to its right neighbor, then to the next rank, and so on.

The algorithm is that of alltoall by spreading out, for blocks of different sizes: in round i = 1 .. p-1 rank r sends to
r+i and receives from r-i (mod p). Empty blocks are not sent. In place, the blocks are sent from copies. With
`distances="alternating"`, r sends to r-1, r+1, r-2, r+2, ..., and one spare block is enough in place.

    p = 4     i = 1               i = 2               i = 3
    rank 0    to 1, from 3        to 2, from 2        to 3, from 1
    rank 1    to 2, from 0        to 3, from 3        to 0, from 2
    rank 2    to 3, from 1        to 0, from 0        to 1, from 3
    rank 3    to 0, from 2        to 1, from 1        to 2, from 0

Rounds   at most p-1    Sent per rank   all blocks for others    Scratch   none; in place, all blocks or one
Time     equal blocks: (p-1) (t_s + m t_w); otherwise computed from the schedule; in a round a rank takes as long as
         its longer block
Fits     any p; distances "increasing" or "alternating"
Best     long blocks of similar size: no rank is ever idle, for any p
Source   Open MPI, ompi/mca/coll/base/coll_base_alltoallv.c: alltoallv_intra_pairwise,
         and, alternating, alltoallv_intra_basic_inplace
"""

from collectives.patterns.pairs.blocks import copied_by_distances, copied_by_distances_scratch, equal_blocks_time
from collectives.patterns.pairs.families import alltoallv
from collectives.patterns.pairs.rounds import spread, spreading_schedule, unknown_distances

alltoallv_spread = alltoallv(
    __name__,
    spread,
    copied_by_distances,
    schedule=spreading_schedule,
    scratch=copied_by_distances_scratch,
    why_unsupported=unknown_distances,
    closed_time=equal_blocks_time(lambda case: case.p - 1),
)
