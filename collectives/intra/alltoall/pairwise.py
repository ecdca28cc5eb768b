"""Alltoall by pairwise exchange: in every round the ranks form pairs, and each pair exchanges its two blocks.

If p is a power of two, rank r is paired with r xor i in round i = 1 .. p-1. Otherwise the rounds are those of a
round-robin tournament (`patterns.pairs`): p-1 rounds if p is even; p rounds if p is odd, in which every rank is idle
once. With `order="ascending"`, each rank has the partners 0, 1, 2, ..., which takes 2 p - 3 rounds. In place, the block
from a partner replaces the block for it, so one spare block is enough.

    p = 4     start          i = 1          i = 2          i = 3        (block rs travels from r to s)
    rank 0    00 01 02 03    00 10 02 03    00 10 20 03    00 10 20 30
    rank 1    10 11 12 13    01 11 12 13    01 11 12 31    01 11 21 31
    rank 2    20 21 22 23    20 21 22 32    02 21 22 32    02 12 22 32
    rank 3    30 31 32 33    30 31 23 33    30 13 23 33    03 13 23 33

Rounds   p-1, or p if odd    Sent per rank   (p-1) m bytes    Scratch   none; m bytes in place
Time     (p-1) (t_s + m t_w); p (t_s + m t_w) if p is odd; (2 p - 3) (t_s + m t_w) in ascending order
Fits     any p; blocks of equal size; order "tournament" or "ascending"
Best     long blocks: each is sent once, and a rank has only one partner at a time
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (power of two); in
         ascending order: MPICH, src/mpi/coll/alltoall/alltoall_intra_pairwise_sendrecv_replace.c
"""

from __future__ import annotations

from typing import Any

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Seconds, message
from collectives.patterns.pairs.blocks import copied, copy_own_block, sent_to_others
from collectives.patterns.pairs.rounds import Order, exchange_in_pairs, pair_rounds, pairs_schedule, unknown_order
from collectives.tools.blocks import Layout, check_same_size
from collectives.tools.blocks import scratch as spare_block
from collectives.tools.protocol import Buffer, Comm


def scratch(case: Case, rank: int) -> int:
    return case.m if case.in_place and case.p > 1 else 0


# An idle rank cannot start its next round early: its partner of the next round is still busy in this one.
def closed_rounds(case: Case) -> int:
    return pair_rounds(case.p, alltoall_pairwise.parameter(case, "order")) if case.m else 0


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return closed_rounds(case) * message(case.m, t_s, t_w)


@algorithm(
    schedule=pairs_schedule,
    scratch=scratch,
    why_unsupported=unknown_order,
    closed_rounds=closed_rounds,
    closed_sent=sent_to_others,
    closed_time=closed_time,
)
def alltoall_pairwise(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, order: Order = "tournament", tag: int = 0
) -> None:
    """Exchange equal blocks between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)

    def incoming(other: int) -> Any:
        return layout.block(recvbuf, other)

    if sendbuf is None:
        spare = spare_block(recvbuf, layout.size(0) if p > 1 else 0)
        exchange_in_pairs(comm, lambda other: copied(spare, incoming(other)), incoming, tag, order)
        return
    check_same_size(sendbuf, recvbuf)
    copy_own_block(comm, layout.block(sendbuf, rank), incoming(rank), tag)
    exchange_in_pairs(comm, lambda other: layout.block(sendbuf, other), incoming, tag, order)
