"""Alltoall between groups as in WMPI: every rank starts all its sends and all its receives, and waits.

Rank r of a group starts receives from r, r-1, r-2, ... of the other group and sends to r, r+1, r+2, ... (mod its size).
The first group starts its receives first, the other its sends. The first group is the larger one, or the one that
passes `first=True`. The order changes no result; groups of equal size without `first` both start with their receives.
The ports determine the order of transfers: a rank's messages leave in the order of its sends, each as soon as the receiver's
port is free.

    p = 4, q = 2      sends to           receives from      starts first
    a_0 a_2           b_0, b_1           b_0, b_1           receives
    a_1 a_3           b_1, b_0           b_1, b_0           receives
    b_0               a_0, 1, 2, 3       a_0, 3, 2, 1       sends
    b_1               a_1, 2, 3, 0       a_1, 0, 3, 2       sends

Rounds   no closed form    Sent per rank   q m bytes; in B p m_b    Scratch   none
Time     no closed form; at least max(p, q) (t_s + m t_w) if all blocks are equal; the order of messages depends on
         timing
Fits     any p and q; blocks of equal size in each direction
Best     networks that handle many messages at once; late ranks delay no other pair
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from collectives.inter_patterns.alltoall import exchange_all_at_once
from collectives.inter_patterns.families import alltoall

alltoall_wmpi = alltoall(__name__, exchange_all_at_once)
