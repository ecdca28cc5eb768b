"""Alltoallv, linear: every rank starts all its sends and all its receives, and waits.

The algorithm is that of alltoall linear, for blocks of different sizes; empty blocks are not sent. In place, the block
for another rank is replaced by the block from that rank, of the same size.

    p = 4     sends to           receives from
    rank 0    1, 2, 3            3, 2, 1
    rank 1    2, 3, 0            0, 3, 2
    rank 2    3, 0, 1            1, 0, 3
    rank 3    0, 1, 2            2, 1, 0

Rounds   no closed form    Sent per rank   all blocks for others    Scratch   none; in place, all blocks
Time     equal, rotated: (p-1) (t_s + m t_w); longer in ascending order; otherwise no closed form; the order of
         messages depends on timing
Fits     any p
Best     blocks of very different sizes: no rank waits for a long message between other ranks
Source   folklore; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from collectives.patterns.pairs.at_once import exchange_all_at_once, rounds_at_once
from collectives.patterns.pairs.blocks import all_copied_scratch, equal_blocks_time
from collectives.patterns.pairs.families import alltoallv

alltoallv_linear = alltoallv(
    __name__, exchange_all_at_once, scratch=all_copied_scratch, closed_time=equal_blocks_time(rounds_at_once)
)
