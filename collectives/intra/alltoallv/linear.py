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

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.patterns.pairs.at_once import SendOrder, exchange_all_at_once
from collectives.patterns.pairs.blocks import equal_blocks_time, sent_to_others, sized_blocks, sized_blocks_scratch
from collectives.tools.protocol import Buffer, Comm


def rounds_of_equal_blocks(case: Case) -> int | None:
    return None if alltoallv_linear.parameter(case, "order") == "ascending" else case.p - 1


@algorithm(
    schedule=None,
    scratch=sized_blocks_scratch,
    closed_sent=sent_to_others,
    closed_time=equal_blocks_time(rounds_of_equal_blocks),
)
def alltoallv_linear(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    sendcounts: Sequence[int] | None,
    recvcounts: Sequence[int],
    *,
    sdispls: Sequence[int] | None = None,
    rdispls: Sequence[int] | None = None,
    order: SendOrder = "right",
    tag: int = 0,
) -> None:
    """Exchange blocks of any size between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send.

    Blocks are contiguous and in rank order unless displacements are given.
    """
    blocks, places = sized_blocks(comm, sendbuf, recvbuf, sendcounts, recvcounts, sdispls, rdispls, tag)
    exchange_all_at_once(comm, blocks.__getitem__, places.__getitem__, tag, order)
