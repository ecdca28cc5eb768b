"""Alltoallv between groups, linear: every rank starts all its receives, then all its sends, in rank order, and waits.

The algorithm is that of alltoall linear, for blocks of different sizes. Blocks are contiguous and in rank order unless
displacements are given; empty blocks are not sent.

    p = 4, q = 2, where a_i has i elements for b_0     b_0 starts receives from a_1, 2, 3, then sends to a_0, 1, 2, 3

Rounds   no closed form    Sent per rank   all its blocks    Scratch   none
Time     no closed form; the order of messages depends on timing
Fits     any p and q
Best     as a baseline: wmpi sends the same messages in an order that keeps more ports busy
Source   Open MPI, ompi/mca/coll/basic/coll_basic_alltoallv.c: alltoallv_inter
"""

from collectives.inter_patterns.alltoall import exchange_in_rank_order
from collectives.inter_patterns.families import alltoallv

alltoallv_linear = alltoallv(__name__, exchange_in_rank_order)
