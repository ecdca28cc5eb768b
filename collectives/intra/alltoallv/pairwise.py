"""Alltoallv by pairwise exchange: in every round the ranks form pairs, and each pair swaps its two blocks.

As alltoall by pairwise exchange, with blocks of their own sizes. Empty ones are not sent, and two ranks that have nothing
for each other do not meet. In place, what a rank has for another is replaced by what it gets from there, of the same size.

    p = 4     i = 1        i = 2        i = 3
              0 - 1        0 - 2        0 - 3
              2 - 3        1 - 3        1 - 2

Rounds   at most p-1, or p if odd    Sent per rank   all blocks for others    Scratch   none; the largest in place
Time     by the schedule's recurrence; in a round a pair takes as long as the larger of its two blocks
Fits     any p
Best     long blocks of about equal size: nobody has more than one partner at a time
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (power of two)
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.shapes.pairs import copied, in_pairs, keep, pairs_schedule, sent_to_others
from collectives.tools.blocks import cut
from collectives.tools.blocks import scratch as spare_block
from collectives.tools.protocol import Buffer, Comm


def alltoallv_pairwise(
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
        others = (place.size for other, place in enumerate(places) if other != rank)
        spare = spare_block(recvbuf, max(others, default=0))
        in_pairs(comm, lambda other: copied(spare, places[other]), places.__getitem__, tag)
        return
    blocks = cut(sendbuf, sendcounts, sdispls, p)
    keep(comm, blocks[rank], places[rank], tag)
    in_pairs(comm, blocks.__getitem__, places.__getitem__, tag)


def scratch(case: Case, rank: int) -> int:
    if not case.in_place:
        return 0
    return max((case.between(other, rank) for other in range(case.p) if other != rank), default=0)


ALGORITHM = Algorithm(
    operation="alltoallv",
    name="pairwise",
    run=alltoallv_pairwise,
    schedule=pairs_schedule,
    scratch=scratch,
    closed_sent=sent_to_others,
)
