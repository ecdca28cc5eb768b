"""Alltoall by pairwise exchange: in every round the ranks form pairs, and each pair exchanges its two blocks.

If p is a power of two, rank r is paired with r xor i in round i = 1 .. p-1. Otherwise the rounds are those of a
round-robin tournament (`patterns.pairs`): p-1 rounds if p is even; p rounds if p is odd, in which every rank is idle
once. With `order="ascending"`, each rank has the partners 0, 1, 2, ..., which takes 2 p - 3 rounds. In place, the block
from a partner replaces the block for it, so one spare block is enough.

    p = 4     start          i = 1          i = 2          i = 3        (block rs travels from r to s)
    rank 0    00 01 02 03    00 10 02 03    00 10 20 03    00 10 20 30
    rank 1    10 11 12 13    01 11 12 13    01 11 12 31    01 11 21 31
    rank 2    20 21 22 23    20 21 22 32    02 21 22 32    02 12 22 32
    rank 3    30 31 32 33    30 31 23 33    30 13 23 33    03 13 23 33

Rounds   p-1, or p if odd    Sent per rank   (p-1) m bytes    Scratch   none; m bytes in place
Time     (p-1) (t_s + m t_w); p (t_s + m t_w) if p is odd; (2 p - 3) (t_s + m t_w) in ascending order
Fits     any p; blocks of equal size; order "tournament" or "ascending"
Best     long blocks: each is sent once, and a rank has only one partner at a time
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (power of two); in
         ascending order: MPICH, src/mpi/coll/alltoall/alltoall_intra_pairwise_sendrecv_replace.c
"""

from collectives.patterns.pairs.blocks import copied_when_sent, equal_blocks_time, largest_scratch
from collectives.patterns.pairs.families import alltoall
from collectives.patterns.pairs.rounds import exchange_in_pairs, pairs_schedule, rounds_of_pairs, unknown_order

# An idle rank cannot start its next round early: its partner of the next round is still busy in this one.
alltoall_pairwise = alltoall(
    __name__,
    exchange_in_pairs,
    copied_when_sent,
    schedule=pairs_schedule,
    scratch=largest_scratch,
    why_unsupported=unknown_order,
    closed_time=equal_blocks_time(rounds_of_pairs),
)
