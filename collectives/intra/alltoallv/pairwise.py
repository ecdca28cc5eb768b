"""Alltoallv by pairwise exchange: in every round the ranks form pairs, and each pair exchanges its two blocks.

The algorithm is that of alltoall by pairwise exchange, for blocks of different sizes. Empty blocks are not sent, and
two ranks without data for each other skip their round. With `order="ascending"`, each rank has the partners 0, 1, 2,
... In place, the block for another rank is replaced by the block from that rank, of the same size.

    p = 4     i = 1        i = 2        i = 3
              0 - 1        0 - 2        0 - 3
              2 - 3        1 - 3        1 - 2

Rounds   at most p-1, p if odd    Sent per rank   all blocks for others    Scratch   none; in place, the largest block
Time     equal blocks: (p-1) (t_s + m t_w); p (t_s + m t_w) if p is odd; otherwise computed from the schedule; in a
         round a pair takes as long as the larger of its two blocks; at most 2 p - 3 rounds in ascending order
Fits     any p; order "tournament" or "ascending"
Best     long blocks of similar size: a rank has only one partner at a time
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (power of two); in
         ascending order: MPICH, src/mpi/coll/alltoallv/alltoallv_intra_pairwise_sendrecv_replace.c
"""

from collectives.patterns.pairs.blocks import copied_when_sent, equal_blocks_time, largest_scratch
from collectives.patterns.pairs.families import alltoallv
from collectives.patterns.pairs.rounds import exchange_in_pairs, pairs_schedule, rounds_of_pairs, unknown_order

alltoallv_pairwise = alltoallv(
    __name__,
    exchange_in_pairs,
    copied_when_sent,
    schedule=pairs_schedule,
    scratch=largest_scratch,
    why_unsupported=unknown_order,
    closed_time=equal_blocks_time(rounds_of_pairs),
)
