"""Alltoallw by spreading out: every rank sends to its right neighbor, then to the next rank, and so on.

The algorithm is that of alltoall by spreading out, for blocks with any datatype (see alltoallw linear): in round i = 1
.. p-1 rank r sends to r+i and receives from r-i (mod p). With `distances="alternating"`, r sends to r-1, r+1, r-2, r+2,
... Empty blocks are not sent. In place, copies are sent.

    p = 4     i = 1               i = 2               i = 3
    rank 0    to 1, from 3        to 2, from 2        to 3, from 1
    rank 1    to 2, from 0        to 3, from 3        to 0, from 2
    rank 2    to 3, from 1        to 0, from 0        to 1, from 3
    rank 3    to 0, from 2        to 1, from 1        to 2, from 0

Rounds   at most p-1    Sent per rank   all blocks for others    Scratch   none; in place, these blocks
Time     equal blocks: (p-1) (t_s + m t_w); otherwise computed from the schedule; in a round a rank takes as long as
         its longer block
Fits     any p; distances "increasing" or "alternating"; in place only plain one-dimensional buffers
Best     parts of matrices with derived datatypes, of similar size: no rank is ever idle, for any p
Source   Open MPI, ompi/mca/coll/basic/coll_basic_alltoallw.c: alltoallw_intra_inplace (alternating, with one spare
         block)
"""

from collectives.patterns.pairs.blocks import equal_blocks_time
from collectives.patterns.pairs.families import alltoallw
from collectives.patterns.pairs.rounds import spread, spreading_schedule, unknown_distances

alltoallw_spread = alltoallw(
    __name__,
    spread,
    schedule=spreading_schedule,
    why_unsupported=unknown_distances,
    closed_time=equal_blocks_time(lambda case: case.p - 1),
)
