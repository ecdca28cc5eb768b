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

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.patterns.pairs.at_once import BATCH, exchange_in_batches, negative_batch
from collectives.patterns.pairs.blocks import sent_to_others, sized_blocks, sized_blocks_scratch
from collectives.tools.protocol import Buffer, Comm


@algorithm(schedule=None, why_unsupported=negative_batch, scratch=sized_blocks_scratch, closed_sent=sent_to_others)
def alltoallv_scattered(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    sendcounts: Sequence[int] | None,
    recvcounts: Sequence[int],
    *,
    sdispls: Sequence[int] | None = None,
    rdispls: Sequence[int] | None = None,
    batch: int = BATCH,
    tag: int = 0,
) -> None:
    """Exchange blocks of any size between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send.

    Blocks are contiguous and in rank order unless displacements are given.
    """
    blocks, places = sized_blocks(comm, sendbuf, recvbuf, sendcounts, recvcounts, sdispls, rdispls, tag)
    exchange_in_batches(comm, blocks.__getitem__, places.__getitem__, batch, tag)
