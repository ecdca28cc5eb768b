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

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.catalogue.declaration import algorithm
from collectives.patterns.pairs.at_once import BATCH, exchange_in_batches, negative_batch
from collectives.patterns.pairs.blocks import blocks_to_send, copies_scratch, sent_to_others
from collectives.tools.protocol import Comm


@algorithm(schedule=None, why_unsupported=negative_batch, scratch=copies_scratch, closed_sent=sent_to_others)
def alltoallw_scattered(
    comm: Comm, sendblocks: Sequence[Any] | None, recvblocks: Sequence[Any], *, batch: int = BATCH, tag: int = 0
) -> None:
    """Exchange one buffer with each rank; if `sendblocks` is None, `recvblocks` hold the data to send."""
    outgoing = blocks_to_send(comm, sendblocks, recvblocks, tag)
    exchange_in_batches(comm, outgoing.__getitem__, recvblocks.__getitem__, batch, tag)
