"""Alltoall between groups by pairwise exchange: in every round ranks of the two groups form pairs and exchange two blocks.

With n = max(p, q), in round i = 0 .. n-1 two ranks of the two groups are paired if their ranks add up to i (mod n)
(`inter_patterns.alltoall`). A rank of the larger group is idle if its partner would be beyond the smaller group.

    p = 4, q = 2      i = 0     i = 1     i = 2     i = 3
    b_0 with          a_0       a_1       a_2       a_3
    b_1 with          a_3       a_0       a_1       a_2

Rounds   max(p, q)    Sent per rank   q m bytes; in B p m_b    Scratch   none
Time     max(p, q) (t_s + m t_w); m is the longer of the two blocks
Fits     any p and q; blocks of equal size in each direction
Best     long blocks: max(p, q) blocks per rank is the lower bound, and a rank has only one partner at a time
Source   fakempi; within one group: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in
         MPICH, International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from collectives.inter_patterns.alltoall import even_time, exchange_in_rounds, exchange_in_rounds_schedule
from collectives.inter_patterns.families import alltoall

alltoall_pairwise = alltoall(__name__, exchange_in_rounds, schedule=exchange_in_rounds_schedule, closed_time=even_time)
