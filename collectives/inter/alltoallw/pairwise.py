"""Alltoallw between groups by pairwise exchange: in every round the groups form pairs, and each pair swaps its two blocks.

As alltoall by pairwise exchange; what a block is: as in alltoallw linear.

    p = 4, q = 2, where a_i has [matrix, i, column] for b_0     b_0 receives 1, 2, 3 columns from a_1, a_2, a_3

Rounds   at most max(p, q)    Sent per rank   all its blocks    Scratch   none
Time     by the schedule's recurrence; at most the longest block of each round, summed up
Fits     any p and q
Best     long blocks of about one size: nobody has more than one partner at a time
Source   ours; within one group: Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collectives.between.across import bytes_sent, in_rounds, rounds_on_paper
from collectives.between.groups import check_local
from collectives.catalogue.algorithm import Algorithm
from collectives.shapes.pairs import one_block_each
from collectives.tools.protocol import Comm, Intercomm
from collectives.tools.unbuffered import UnbufferedBetween


def alltoallw_pairwise(
    inter: Intercomm, local: Comm, sendblocks: Sequence[Any], recvblocks: Sequence[Any], *, tag: int = 0
) -> None:
    """Swap buffers with the other group, one for each of its ranks."""
    check_local(inter, local)
    q = inter.Get_remote_size()
    one_block_each(sendblocks, q)
    one_block_each(recvblocks, q)
    in_rounds(UnbufferedBetween(inter), sendblocks.__getitem__, recvblocks.__getitem__, tag)


ALGORITHM = Algorithm(
    operation="alltoallw",
    name="pairwise",
    kind="inter",
    run=alltoallw_pairwise,
    schedule=rounds_on_paper,
    closed_sent=bytes_sent,
)
