"""Alltoallw between groups as in WMPI: everybody starts all its sends and all its receives, and waits.

Rank r of a group starts receives from r, r-1, r-2, ... of the other and sends to r, r+1, r+2, ... (mod its size). One
group starts its receives first, the other its sends: the larger one is first, or who says `first=True`. Who is first
changes no result; groups of one size that were not told both start with their receives. What is served when, the ports
decide: a message waits for its sender's port, then for its receiver's, first come, first served.
A block is whatever the communicator's Send and Recv accept: an array, a phantom, or a list such as [buffer, count,
type] for a derived datatype. None stands for nothing; both sides of an empty block must say that it is empty.

    p = 4, q = 2      sends to           receives from      starts first
    a_0 a_2           b_0, b_1           b_0, b_1           receives
    a_1 a_3           b_1, b_0           b_1, b_0           receives
    b_0               a_0, 1, 2, 3       a_0, 3, 2, 1       sends
    b_1               a_1, 2, 3, 0       a_1, 0, 3, 2       sends

Rounds   no closed form    Sent per rank   all its blocks    Scratch   none
Time     no closed form; the order of messages depends on timing
Fits     any p and q
Best     where the network sorts out many messages at once; ranks that come late hold up nobody else
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.between.across import bytes_sent, swap
from collectives.between.groups import check_local
from collectives.catalogue.algorithm import Algorithm
from collectives.shapes.pairs import one_block_each
from collectives.tools.protocol import Comm, Intercomm


def alltoallw_wmpi(
    inter: Intercomm,
    local: Comm,
    sendblocks: Sequence[Any],
    recvblocks: Sequence[Any],
    *,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Swap buffers with the other group, one for each of its ranks."""
    check_local(inter, local)
    q = inter.Get_remote_size()
    one_block_each(sendblocks, q)
    one_block_each(recvblocks, q)
    swap(inter, sendblocks.__getitem__, recvblocks.__getitem__, first, tag)


ALGORITHM = Algorithm(
    operation="alltoallw",
    name="wmpi",
    kind="inter",
    run=alltoallw_wmpi,
    schedule=None,
    closed_sent=bytes_sent,
    parameters={"first": None},
)
