"""Alltoall between groups, linear: every rank starts all its receives, then all its sends, in rank order, and waits.

All ranks begin with rank 0 of the other group, so its port is busy first. In wmpi, ranks begin with different ranks. The
ports determine the order of transfers: a rank's messages leave in the order of its sends, each as soon as the receiver's
port is free.

    p = 4, q = 2      receives from      sends to
    each a_i          b_0, b_1           b_0, b_1
    each b_j          a_0, 1, 2, 3       a_0, 1, 2, 3

Rounds   no closed form    Sent per rank   q m bytes; in B p m_b    Scratch   none
Time     no closed form; at least max(p, q) (t_s + m t_w) if all blocks are equal; the order of messages depends on
         timing
Fits     any p and q; blocks of equal size in each direction
Best     as a baseline: wmpi sends the same messages in an order that keeps more ports busy
Source   Open MPI, ompi/mca/coll/basic/coll_basic_alltoall.c: alltoall_inter
"""

from collectives.inter_patterns.alltoall import exchange_in_rank_order
from collectives.inter_patterns.families import alltoall

alltoall_linear = alltoall(__name__, exchange_in_rank_order)
