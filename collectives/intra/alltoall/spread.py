"""Alltoall by spreading out: every rank sends to its right neighbor, then to the next rank, and so on.

In round i = 1 .. p-1 rank r sends to r+i the block for r+i and receives from r-i the block for r (mod p). In place, the
blocks are sent from a copy, since a block arrives long before the block that it replaces is sent. With
`distances="alternating"`, r sends to r-1, r+1, r-2, r+2, ..., and one spare block is enough in place: a block arrives one
round before the block that it replaces is sent, or after it.

    p = 4     start          i = 1          i = 2          i = 3        (block rs travels from r to s)
    rank 0    00 .. .. ..    00 .. .. 30    00 .. 20 30    00 10 20 30
    rank 1    .. 11 .. ..    01 11 .. ..    01 11 .. 31    01 11 21 31
    rank 2    .. .. 22 ..    .. 12 22 ..    02 12 22 ..    02 12 22 32
    rank 3    .. .. .. 33    .. .. 23 33    .. 13 23 33    03 13 23 33

Rounds   p-1    Sent per rank   (p-1) m bytes    Scratch   none; in place p m or m bytes
Time     (p-1) (t_s + m t_w)
Fits     any p; blocks of equal size; distances "increasing" or "alternating"
Best     long blocks on a full-duplex network: each is sent once, and no rank is ever idle, for any p
Source   Fan, Gilray, Pascucci, Huang, Micinski, Kumar, Optimizing the Bruck Algorithm for Non-uniform All-to-all
         Communication, HPDC 2022, doi:10.1145/3502181.3531468 (describes it as spread-out);
         alternating: Open MPI, ompi/mca/coll/base/coll_base_alltoall.c: alltoall_intra_basic_inplace
"""

from collectives.catalogue.closed_forms import one_message_per_round, other_ranks
from collectives.patterns.pairs.blocks import copied_by_distances, copied_by_distances_scratch
from collectives.patterns.pairs.families import alltoall
from collectives.patterns.pairs.rounds import spread, spreading_schedule, unknown_distances

alltoall_spread = alltoall(
    __name__,
    spread,
    copied_by_distances,
    schedule=spreading_schedule,
    scratch=copied_by_distances_scratch,
    why_unsupported=unknown_distances,
    closed_time=one_message_per_round(other_ranks),
)
