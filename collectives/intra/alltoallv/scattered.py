"""Alltoallv, scattered: every rank starts a batch of sends and receives, waits, and starts the next batch.

The algorithm is that of alltoall scattered, for blocks of different sizes; empty blocks are not sent. In place, the
block for another rank is replaced by the block from that rank, of the same size.

    p = 4, batch = 2    first batch               second batch
    rank 0              to 3, from 1              to 2 and 1, from 2 and 3
    rank 1              to 0, from 2              to 3 and 2, from 3 and 0
    rank 2              to 1, from 3              to 0 and 3, from 0 and 1
    rank 3              to 2, from 0              to 1 and 0, from 1 and 2

Rounds   no closed form    Sent per rank   all blocks for others    Scratch   none; in place, all blocks
Time     no closed form; the order of messages depends on timing
Fits     any p; batch >= 0
Best     many ranks and blocks of different sizes: like linear, with a limited number of pending messages
Source   MPICH, src/mpi/coll/alltoallv: alltoallv_intra_scattered, with a batch of 32 (MPIR_CVAR_ALLTOALL_THROTTLE)
"""

from collectives.patterns.pairs.at_once import exchange_in_batches, negative_batch
from collectives.patterns.pairs.blocks import all_copied_scratch
from collectives.patterns.pairs.families import alltoallv

alltoallv_scattered = alltoallv(__name__, exchange_in_batches, why_unsupported=negative_batch, scratch=all_copied_scratch)
