"""Alltoallv between groups by pairwise exchange: in every round ranks of the two groups form pairs and exchange two blocks.

The algorithm is that of alltoall by pairwise exchange, for blocks of different sizes. Blocks are contiguous and in rank
order unless displacements are given; empty blocks are not sent.

    p = 4, q = 2, where a_i has i elements for b_0     b_0 receives 1, 2, 3 elements from a_1, a_2, a_3

Rounds   at most max(p, q)    Sent per rank   all its blocks    Scratch   none
Time     computed from the schedule; at most the sum of t_s + b t_w over all rounds, where b is the longest block of the
         round
Fits     any p and q
Best     long blocks of similar size: a rank has only one partner at a time
Source   fakempi; within one group: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in
         MPICH, International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from collectives.inter_patterns.alltoall import exchange_in_rounds, exchange_in_rounds_schedule
from collectives.inter_patterns.families import alltoallv

alltoallv_pairwise = alltoallv(__name__, exchange_in_rounds, schedule=exchange_in_rounds_schedule)
