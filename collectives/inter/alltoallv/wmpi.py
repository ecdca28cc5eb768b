"""Alltoallv between groups as in WMPI: every rank starts all its sends and all its receives, and waits.

The algorithm is that of alltoall wmpi, for blocks of different sizes. Blocks are contiguous and in rank order unless
displacements are given; empty blocks are not sent.

    p = 4, q = 2, where a_i has i elements for b_0     b_0 starts sends to a_0, 1, 2, 3 and receives from a_3, 2, 1

Rounds   no closed form    Sent per rank   all its blocks    Scratch   none
Time     no closed form; the order of messages depends on timing
Fits     any p and q
Best     networks that handle many messages at once; late ranks delay no other pair
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from collectives.inter_patterns.alltoall import exchange_all_at_once
from collectives.inter_patterns.families import alltoallv

alltoallv_wmpi = alltoallv(__name__, exchange_all_at_once)
