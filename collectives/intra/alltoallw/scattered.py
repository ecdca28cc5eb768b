"""Alltoallw, scattered: every rank starts a batch of sends and receives, waits, and starts the next batch.

The algorithm is that of alltoall scattered, for blocks with any datatype (see alltoallw linear): arrays, phantoms, or
lists such as [buffer, count, type]. In place, copies are sent.

    p = 4, batch = 2    rank 0 sends to 3 and receives from 1, waits, sends to 2 and 1 and receives from 2 and 3

Rounds   no closed form    Sent per rank   all blocks for others    Scratch   none; in place, these blocks
Time     no closed form; the order of messages depends on timing
Fits     any p; batch >= 0; in place only plain one-dimensional buffers
Best     many ranks and derived datatypes: like linear, with a limited number of pending messages
Source   MPICH, src/mpi/coll/alltoallw: alltoallw_intra_scattered, with a batch of 32 (MPIR_CVAR_ALLTOALL_THROTTLE)
"""

from collectives.patterns.pairs.at_once import exchange_in_batches, negative_batch
from collectives.patterns.pairs.families import alltoallw

alltoallw_scattered = alltoallw(__name__, exchange_in_batches, why_unsupported=negative_batch)
