"""Alltoallw between groups as in WMPI: every rank starts all its sends and all its receives, and waits.

The algorithm is that of alltoall wmpi, for blocks with any datatype (see alltoallw linear).

    p = 4, q = 2, where a_i has [matrix, i, column] for b_0     b_0 starts sends to a_0, 1, 2, 3 and receives from a_3, 2, 1

Rounds   no closed form    Sent per rank   all its blocks    Scratch   none
Time     no closed form; the order of messages depends on timing
Fits     any p and q
Best     networks that handle many messages at once; late ranks delay no other pair
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.alltoall import bytes_sent, exchange_all_at_once
from collectives.patterns.pairs.blocks import check_block_count
from collectives.tools.local import check_local
from collectives.tools.protocol import Comm, Intercomm


@algorithm(schedule=None, closed_sent=bytes_sent)
def alltoallw_wmpi(
    inter: Intercomm,
    local: Comm,
    sendblocks: Sequence[Any],
    recvblocks: Sequence[Any],
    *,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Exchange one buffer with each rank of the other group."""
    check_local(inter, local)
    q = inter.Get_remote_size()
    check_block_count(sendblocks, q)
    check_block_count(recvblocks, q)
    exchange_all_at_once(inter, sendblocks.__getitem__, recvblocks.__getitem__, first, tag)
