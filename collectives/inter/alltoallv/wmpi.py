"""Alltoallv between groups as in WMPI: every rank starts all its sends and all its receives, and waits.

The algorithm is that of alltoall wmpi, for blocks of different sizes. Blocks are contiguous and in rank order unless
displacements are given; empty blocks are not sent.

    p = 4, q = 2, where a_i has i elements for b_0     b_0 starts sends to a_0, 1, 2, 3 and receives from a_3, 2, 1

Rounds   no closed form    Sent per rank   all its blocks    Scratch   none
Time     no closed form; the order of messages depends on timing
Fits     any p and q
Best     networks that handle many messages at once; late ranks delay no other pair
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.alltoall import bytes_sent, exchange_all_at_once
from collectives.tools.blocks import cut
from collectives.tools.local import check_local
from collectives.tools.protocol import Buffer, Comm, Intercomm


@algorithm(schedule=None, closed_sent=bytes_sent)
def alltoallv_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    sendcounts: Sequence[int],
    recvcounts: Sequence[int],
    *,
    sdispls: Sequence[int] | None = None,
    rdispls: Sequence[int] | None = None,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Exchange blocks of any size with every rank of the other group."""
    check_local(inter, local)
    q = inter.Get_remote_size()
    outgoing, incoming = cut(sendbuf, sendcounts, sdispls, q), cut(recvbuf, recvcounts, rdispls, q)
    exchange_all_at_once(inter, outgoing.__getitem__, incoming.__getitem__, first, tag)
