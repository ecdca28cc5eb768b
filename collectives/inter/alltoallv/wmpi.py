"""Alltoallv between groups as in WMPI: everybody starts all its sends and all its receives, and waits.

As alltoall wmpi, with blocks of their own sizes. They follow each other in rank order, unless displacements
say where they begin; empty ones are left out.

    p = 4, q = 2, where a_i has i elements for b_0     b_0 starts sends to a_0, 1, 2, 3 and receives from a_3, 2, 1

Rounds   no closed form    Sent per rank   all its blocks    Scratch   none
Time     no closed form; the order of messages depends on timing
Fits     any p and q
Best     where the network sorts out many messages at once; ranks that come late hold up nobody else
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.across import bytes_sent, swap
from collectives.between.groups import check_local
from collectives.catalogue.algorithm import Algorithm
from collectives.tools.blocks import cut
from collectives.tools.protocol import Buffer, Comm, Intercomm


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
    """Swap blocks of any size with every rank of the other group."""
    check_local(inter, local)
    q = inter.Get_remote_size()
    outgoing, incoming = cut(sendbuf, sendcounts, sdispls, q), cut(recvbuf, recvcounts, rdispls, q)
    swap(inter, outgoing.__getitem__, incoming.__getitem__, first, tag)


ALGORITHM = Algorithm(
    operation="alltoallv",
    name="wmpi",
    kind="inter",
    run=alltoallv_wmpi,
    schedule=None,
    closed_sent=bytes_sent,
    parameters={"first": None},
)
