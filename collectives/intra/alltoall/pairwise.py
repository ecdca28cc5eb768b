"""Alltoall by pairwise exchange: in every round the ranks form pairs, and each pair swaps its two blocks.

If p is a power of two, rank r meets r xor i in round i = 1 .. p-1; otherwise the rounds are those of a tournament
(`shapes.pairs`), p-1 of them if p is even and p if it is odd, when everybody rests once. Since one partner
takes the place of the other, one spare block is enough in place.

    p = 4     start          i = 1          i = 2          i = 3        (block rs is on its way from r to s)
    rank 0    00 01 02 03    00 10 02 03    00 10 20 03    00 10 20 30
    rank 1    10 11 12 13    01 11 12 13    01 11 12 31    01 11 21 31
    rank 2    20 21 22 23    20 21 22 32    02 21 22 32    02 12 22 32
    rank 3    30 31 32 33    30 31 23 33    30 13 23 33    03 13 23 33

Rounds   p-1, or p if odd    Sent per rank   (p-1) m bytes    Scratch   none; m bytes in place
Time     (p-1) (t_s + m t_w); p (t_s + m t_w) where p is odd
Fits     any p; blocks of equal size
Best     long blocks: each travels once, and nobody has more than one partner at a time
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (power of two)
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.closed_forms import one_message_a_round
from collectives.shapes.pairs import copied, in_pairs, keep, meetings, pairs_schedule, sent_to_others
from collectives.tools.blocks import Layout, check_same_size
from collectives.tools.blocks import scratch as spare_block
from collectives.tools.protocol import Buffer, Comm


def alltoall_pairwise(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Swap equal blocks between all ranks; `sendbuf` None means that `recvbuf` holds what is to be sent."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)

    def incoming(other: int) -> Any:
        return layout.block(recvbuf, other)

    if sendbuf is None:
        spare = spare_block(recvbuf, layout.size(0) if p > 1 else 0)
        in_pairs(comm, lambda other: copied(spare, incoming(other)), incoming, tag)
        return
    check_same_size(sendbuf, recvbuf)
    keep(comm, layout.block(sendbuf, rank), incoming(rank), tag)
    in_pairs(comm, lambda other: layout.block(sendbuf, other), incoming, tag)


def scratch(case: Case, rank: int) -> int:
    return case.m if case.in_place and case.p > 1 else 0


# Who rests in a round cannot run ahead: its partner of the next round is still busy in this one.
ALGORITHM = Algorithm(
    operation="alltoall",
    name="pairwise",
    run=alltoall_pairwise,
    schedule=pairs_schedule,
    scratch=scratch,
    closed_sent=sent_to_others,
    **one_message_a_round(meetings),
)
