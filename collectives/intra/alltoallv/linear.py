"""Alltoallv by sending: everybody starts all its sends and all its receives, and waits.

As alltoall by sending, with blocks of their own sizes; empty ones are left out. In place, what a rank has for another is
replaced by what it gets from there, of the same size.

    p = 4     sends to           receives from
    rank 0    1, 2, 3            3, 2, 1
    rank 1    2, 3, 0            0, 3, 2
    rank 2    3, 0, 1            1, 0, 3
    rank 3    0, 1, 2            2, 1, 0

Rounds   no closed form    Sent per rank   all blocks for others    Scratch   none; all blocks in place
Time     no closed form; the order of messages depends on timing
Fits     any p
Best     blocks of very different sizes: nobody waits for a long message of others
Source   folklore; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.shapes.pairs import all_at_once, copied, keep, sent_to_others
from collectives.tools.blocks import Layout, cut
from collectives.tools.blocks import scratch as spare_blocks
from collectives.tools.protocol import Buffer, Comm


def alltoallv_linear(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    sendcounts: Sequence[int] | None,
    recvcounts: Sequence[int],
    *,
    sdispls: Sequence[int] | None = None,
    rdispls: Sequence[int] | None = None,
    tag: int = 0,
) -> None:
    """Swap blocks of any size between all ranks; `sendbuf` None means that `recvbuf` holds what is to be sent.

    Blocks follow each other in rank order, unless displacements say where they begin.
    """
    p, rank = comm.Get_size(), comm.Get_rank()
    places = cut(recvbuf, recvcounts, rdispls, p)
    if sendbuf is None:
        layout = Layout.of(recvcounts)
        held = spare_blocks(recvbuf, layout.size(0, p))
        blocks = [copied(layout.block(held, i), place) for i, place in enumerate(places)]
    else:
        blocks = cut(sendbuf, sendcounts, sdispls, p)
        keep(comm, blocks[rank], places[rank], tag)
    all_at_once(comm, blocks.__getitem__, places.__getitem__, tag)


def scratch(case: Case, rank: int) -> int:
    return sum(case.between(other, rank) for other in range(case.p)) if case.in_place else 0


ALGORITHM = Algorithm(
    operation="alltoallv",
    name="linear",
    run=alltoallv_linear,
    schedule=None,
    scratch=scratch,
    closed_sent=sent_to_others,
)
