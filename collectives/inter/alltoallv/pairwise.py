"""Alltoallv between groups by pairwise exchange: in every round the groups form pairs, and each pair swaps its two blocks.

As alltoall by pairwise exchange, with blocks of their own sizes. They follow each other in rank order, unless displacements
say where they begin; empty ones are left out.

    p = 4, q = 2, where a_i has i elements for b_0     b_0 receives 1, 2, 3 elements from a_1, a_2, a_3

Rounds   at most max(p, q)    Sent per rank   all its blocks    Scratch   none
Time     by the schedule's recurrence; at most the longest block of each round, summed up
Fits     any p and q
Best     long blocks of about one size: nobody has more than one partner at a time
Source   ours; within one group: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.across import bytes_sent, in_rounds, rounds_on_paper
from collectives.between.groups import check_local
from collectives.catalogue.algorithm import Algorithm
from collectives.tools.blocks import cut
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.unbuffered import UnbufferedBetween


def alltoallv_pairwise(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    sendcounts: Sequence[int],
    recvcounts: Sequence[int],
    *,
    sdispls: Sequence[int] | None = None,
    rdispls: Sequence[int] | None = None,
    tag: int = 0,
) -> None:
    """Swap blocks of any size with every rank of the other group."""
    check_local(inter, local)
    q = inter.Get_remote_size()
    outgoing, incoming = cut(sendbuf, sendcounts, sdispls, q), cut(recvbuf, recvcounts, rdispls, q)
    in_rounds(UnbufferedBetween(inter), outgoing.__getitem__, incoming.__getitem__, tag)


ALGORITHM = Algorithm(
    operation="alltoallv",
    name="pairwise",
    kind="inter",
    run=alltoallv_pairwise,
    schedule=rounds_on_paper,
    closed_sent=bytes_sent,
)
