"""Alltoallw between groups by spreading out: in round i every rank sends to the rank at distance i in the other group.

The algorithm is that of alltoall between groups by spreading out, for blocks with any datatype (see alltoallw linear).

    p = 4, q = 2      i = 0             i = 1             i = 2             i = 3
    b_0               to a_0, from a_0  to a_1, from a_3  to a_2, from a_2  to a_3, from a_1
    b_1               to a_1, from a_1  to a_2, from a_0  to a_3, from a_3  to a_0, from a_2

Rounds   at most max(p, q)    Sent per rank   all its blocks    Scratch   none
Time     computed from the schedule; at most the sum of t_s + b t_w over all rounds, where b is the longest block of the
         round
Fits     any p and q
Best     long blocks of similar size: a rank sends and receives one block at a time
Source   MPICH, src/mpi/coll/alltoallw/alltoallw_inter_pairwise_exchange.c
"""

from collectives.inter_patterns.alltoall import exchange_spreading, exchange_spreading_schedule
from collectives.inter_patterns.families import alltoallw

alltoallw_spread = alltoallw(__name__, exchange_spreading, schedule=exchange_spreading_schedule)
