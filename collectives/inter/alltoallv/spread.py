"""Alltoallv between groups by spreading out: in round i every rank sends a block to the rank at distance i.

The algorithm is that of alltoall between groups by spreading out, for blocks of different sizes. Blocks are contiguous
and in rank order unless displacements are given; empty blocks are not sent.

    p = 4, q = 2      i = 0             i = 1             i = 2             i = 3
    b_0               to a_0, from a_0  to a_1, from a_3  to a_2, from a_2  to a_3, from a_1
    b_1               to a_1, from a_1  to a_2, from a_0  to a_3, from a_3  to a_0, from a_2

Rounds   at most max(p, q)    Sent per rank   all its blocks    Scratch   none
Time     computed from the schedule; at most the sum of t_s + b t_w over all rounds, where b is the longest block of the
         round
Fits     any p and q
Best     long blocks of similar size: a rank sends and receives one block at a time
Source   MPICH, src/mpi/coll/alltoallv/alltoallv_inter_pairwise_exchange.c
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.alltoall import bytes_sent, exchange_spreading, exchange_spreading_schedule
from collectives.tools.blocks import cut
from collectives.tools.local import check_local
from collectives.tools.protocol import Buffer, Comm, Intercomm
from collectives.tools.unbuffered import UnbufferedBetween


@algorithm(schedule=exchange_spreading_schedule, closed_sent=bytes_sent)
def alltoallv_spread(
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
    exchange_spreading(UnbufferedBetween(inter), outgoing.__getitem__, incoming.__getitem__, tag)
