"""Alltoallv between groups by spreading out: in round i every rank sends a block to the rank at distance i.

The algorithm is that of alltoall between groups by spreading out, for blocks of different sizes. Blocks are contiguous
and in rank order unless displacements are given; empty blocks are not sent.

    p = 4, q = 2      i = 0             i = 1             i = 2             i = 3
    b_0               to a_0, from a_0  to a_1, from a_3  to a_2, from a_2  to a_3, from a_1
    b_1               to a_1, from a_1  to a_2, from a_0  to a_3, from a_3  to a_0, from a_2

Rounds   at most max(p, q)    Sent per rank   all its blocks    Scratch   none
Time     computed from the schedule; at most the sum of t_s + b t_w over all rounds, where b is the longest block of the
         round
Fits     any p and q
Best     long blocks of similar size: a rank sends and receives one block at a time
Source   MPICH, src/mpi/coll/alltoallv/alltoallv_inter_pairwise_exchange.c
"""

from collectives.inter_patterns.alltoall import exchange_spreading, exchange_spreading_schedule
from collectives.inter_patterns.families import alltoallv

alltoallv_spread = alltoallv(__name__, exchange_spreading, schedule=exchange_spreading_schedule)
