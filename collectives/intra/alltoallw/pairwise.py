"""Alltoallw by pairwise exchange: in every round the ranks form pairs, and each pair exchanges its two blocks.

The algorithm is that of alltoall by pairwise exchange, for blocks with any datatype (see alltoallw linear). With
`order="ascending"`, each rank has the partners 0, 1, 2, ... In place, copies are sent.

    p = 4     i = 1        i = 2        i = 3
              0 - 1        0 - 2        0 - 3
              2 - 3        1 - 3        1 - 2

Rounds   at most p-1, p if odd    Sent per rank   all blocks for others    Scratch   none; in place, these blocks
Time     equal blocks: (p-1) (t_s + m t_w); p (t_s + m t_w) if p is odd; otherwise computed from the schedule; in a
         round a pair takes as long as the larger of its two blocks; at most 2 p - 3 rounds in ascending order
Fits     any p; order "tournament" or "ascending"; in place only plain one-dimensional buffers
Best     parts of matrices with derived datatypes, of similar size
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (power of two); in
         ascending order: MPICH, src/mpi/coll/alltoallw/alltoallw_intra_pairwise_sendrecv_replace.c
"""

from collectives.patterns.pairs.blocks import equal_blocks_time
from collectives.patterns.pairs.families import alltoallw
from collectives.patterns.pairs.rounds import exchange_in_pairs, pairs_schedule, rounds_of_pairs, unknown_order

alltoallw_pairwise = alltoallw(
    __name__,
    exchange_in_pairs,
    schedule=pairs_schedule,
    why_unsupported=unknown_order,
    closed_time=equal_blocks_time(rounds_of_pairs),
)
