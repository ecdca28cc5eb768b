"""Alltoall, scattered: every rank starts a batch of sends and receives, waits, and starts the next batch.

At distance i = 0 .. p-1 rank r receives from r+i and sends to r-i (mod p); distance 0 is the local copy of its own block. A
batch consists of `batch` successive distances: the rank posts their receives and sends, and waits for all of them.
`batch=0` starts all messages at once. In place, the blocks are sent from a copy.

    p = 4, batch = 2    first batch               second batch
    rank 0              sends 03, gets 10         sends 02, 01, gets 20, 30      (block rs goes from r to s)
    rank 1              sends 10, gets 21         sends 13, 12, gets 31, 01
    rank 2              sends 21, gets 32         sends 20, 23, gets 02, 12
    rank 3              sends 32, gets 03         sends 31, 30, gets 13, 23

Rounds   no closed form    Sent per rank   (p-1) m bytes    Scratch   none; p m bytes in place
Time     no closed form; at least (p-1) (t_s + m t_w); the order of messages depends on timing
Fits     any p; batch >= 0; blocks of equal size
Best     many ranks: like linear, with a limited number of pending messages
Source   MPICH, src/mpi/coll/alltoall: alltoall_intra_scattered, with a batch of 32 (MPIR_CVAR_ALLTOALL_THROTTLE)
"""

from collectives.patterns.pairs.at_once import exchange_in_batches, negative_batch
from collectives.patterns.pairs.blocks import all_copied_scratch
from collectives.patterns.pairs.families import alltoall

alltoall_scattered = alltoall(__name__, exchange_in_batches, why_unsupported=negative_batch, scratch=all_copied_scratch)
