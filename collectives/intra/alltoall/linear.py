"""Alltoall, linear: every rank starts all its sends and all its receives, and waits.

Rank r starts receives from r-1, r-2, ... and sends to r+1, r+2, ... (mod p), all at once. With `order="left"`, r sends to
r-1, r-2, ... and receives from r+1, r+2, ...; with `order="ascending"`, both are 0, 1, 2, ... In place, the blocks are
sent from a copy.

The ports determine the order of transfers: a rank's messages leave in the order of its sends, each as soon as the
receiver's port is free. If all ranks start at the same time, the i-th messages of all ranks go to different ranks, r+i or
r-i, so none waits for a receiver: as in `spread`, a message of every rank is transferred at any time. In ascending order
all ranks send to rank 0 first, and wait for each other.

    p = 4     has            gets          (block rs travels from r to s)
    rank 0    00 01 02 03    00 10 20 30
    rank 1    10 11 12 13    01 11 21 31
    rank 2    20 21 22 23    02 12 22 32
    rank 3    30 31 32 33    03 13 23 33

Rounds   no closed form    Sent per rank   (p-1) m bytes    Scratch   none; p m bytes in place
Time     (p-1) (t_s + m t_w); at least that with order "ascending", which has no closed form
Fits     any p; blocks of equal size
Best     networks that handle many messages at once; late ranks delay no other pair
Source   folklore; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from collectives.patterns.pairs.at_once import exchange_all_at_once, rounds_at_once
from collectives.patterns.pairs.blocks import all_copied_scratch, equal_blocks_time
from collectives.patterns.pairs.families import alltoall

alltoall_linear = alltoall(
    __name__, exchange_all_at_once, scratch=all_copied_scratch, closed_time=equal_blocks_time(rounds_at_once)
)
