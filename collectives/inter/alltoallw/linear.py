"""Alltoallw between groups, linear: every rank starts all its receives, then all its sends, in rank order, and waits.

The algorithm is that of alltoall linear between groups, for blocks with any datatype (see alltoallw linear).

    p = 4, q = 2, a_i has [matrix, i, column] for b_0     b_0 starts receives from a_1, 2, 3, then sends to a_0, 1, 2, 3

Rounds   no closed form    Sent per rank   all its blocks    Scratch   none
Time     no closed form; the order of messages depends on timing
Fits     any p and q
Best     as a baseline: wmpi sends the same messages in an order that keeps more ports busy
Source   Open MPI, ompi/mca/coll/basic/coll_basic_alltoallw.c: alltoallw_inter
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.alltoall import bytes_sent, exchange_in_rank_order
from collectives.patterns.pairs.blocks import check_block_count
from collectives.tools.local import check_local
from collectives.tools.protocol import Comm, Intercomm


@algorithm(schedule=None, closed_sent=bytes_sent)
def alltoallw_linear(
    inter: Intercomm, local: Comm, sendblocks: Sequence[Any], recvblocks: Sequence[Any], *, tag: int = 0
) -> None:
    """Exchange one buffer with each rank of the other group."""
    check_local(inter, local)
    q = inter.Get_remote_size()
    check_block_count(sendblocks, q)
    check_block_count(recvblocks, q)
    exchange_in_rank_order(inter, sendblocks.__getitem__, recvblocks.__getitem__, tag)
