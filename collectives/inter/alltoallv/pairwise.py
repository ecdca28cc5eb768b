"""Alltoallv between groups by pairwise exchange: in every round ranks of the two groups form pairs and exchange two blocks.

The algorithm is that of alltoall by pairwise exchange, for blocks of different sizes. Blocks are contiguous and in rank
order unless displacements are given; empty blocks are not sent.

    p = 4, q = 2, where a_i has i elements for b_0     b_0 receives 1, 2, 3 elements from a_1, a_2, a_3

Rounds   at most max(p, q)    Sent per rank   all its blocks    Scratch   none
Time     computed from the schedule; at most the sum of t_s + b t_w over all rounds, where b is the longest block of the
         round
Fits     any p and q
Best     long blocks of similar size: a rank has only one partner at a time
Source   fakempi; within one group: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in
         MPICH, International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.alltoall import bytes_sent, exchange_in_rounds, exchange_in_rounds_schedule
from collectives.tools.blocks import cut
from collectives.tools.local import check_local
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.unbuffered import UnbufferedBetween


@algorithm(schedule=exchange_in_rounds_schedule, closed_sent=bytes_sent)
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
    """Exchange blocks of any size with every rank of the other group."""
    check_local(inter, local)
    q = inter.Get_remote_size()
    outgoing, incoming = cut(sendbuf, sendcounts, sdispls, q), cut(recvbuf, recvcounts, rdispls, q)
    exchange_in_rounds(UnbufferedBetween(inter), outgoing.__getitem__, incoming.__getitem__, tag)
