"""Alltoallw, linear: every rank starts all its sends and all its receives, and waits.

The algorithm is that of alltoall linear. A block is any argument that the communicator's Send and Recv accept: an
array, a phantom, or a list such as [buffer, count, type] for a derived datatype. None stands for an empty block; sender
and receiver must agree that a block is empty. A rank copies its block for itself, or sends it to itself if it is not a
plain one-dimensional buffer. In place, copies are sent.

    p = 4, where r has [matrix, r, column] for 0     rank 0 sends to 1, 2, 3, receives from 3, 2, 1 and has None for itself

Rounds   no closed form    Sent per rank   all blocks for others    Scratch   none; in place, these blocks
Time     equal, rotated: (p-1) (t_s + m t_w); longer in ascending order; otherwise no closed form; the order of
         messages depends on timing
Fits     any p; in place only plain one-dimensional buffers
Best     parts of matrices with derived datatypes, of very different sizes
Source   folklore; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from collectives.patterns.pairs.at_once import exchange_all_at_once, rounds_at_once
from collectives.patterns.pairs.blocks import equal_blocks_time
from collectives.patterns.pairs.families import alltoallw

alltoallw_linear = alltoallw(__name__, exchange_all_at_once, closed_time=equal_blocks_time(rounds_at_once))
