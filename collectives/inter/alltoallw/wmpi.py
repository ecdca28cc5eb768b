"""Alltoallw between groups as in WMPI: everybody starts all its sends and all its receives, and waits.

As alltoall wmpi; what a block is: as in alltoallw linear.

    p = 4, q = 2, where a_i has [matrix, i, column] for b_0     b_0 starts sends to a_0, 1, 2, 3 and receives from a_3, 2, 1

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
