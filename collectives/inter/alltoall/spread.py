"""Alltoall between groups by spreading out: in round i every rank sends to the rank at distance i in the other group.

With n = max(p, q), in round i = 0 .. n-1 rank r of a group sends to rank r+i of the other group and receives from its rank
r-i (mod n), if these ranks exist (`inter_patterns.alltoall`). In the pairwise exchange, these are the same rank.

    p = 4, q = 2      i = 0             i = 1             i = 2             i = 3
    b_0               to a_0, from a_0  to a_1, from a_3  to a_2, from a_2  to a_3, from a_1
    b_1               to a_1, from a_1  to a_2, from a_0  to a_3, from a_3  to a_0, from a_2

Rounds   max(p, q)    Sent per rank   q m bytes; in B p m_b    Scratch   none
Time     max(p, q) (t_s + m t_w); m is the longer of the two blocks
Fits     any p and q; blocks of equal size in each direction
Best     long blocks: max(p, q) blocks per rank is the lower bound; the same time as pairwise in this model
Source   MPICH, src/mpi/coll/alltoall/alltoall_inter_pairwise_exchange.c
"""

from collectives.inter_patterns.alltoall import even_time, exchange_spreading, exchange_spreading_schedule
from collectives.inter_patterns.families import alltoall

alltoall_spread = alltoall(__name__, exchange_spreading, schedule=exchange_spreading_schedule, closed_time=even_time)
