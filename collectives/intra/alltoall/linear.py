"""Alltoall, linear: every rank starts all its sends and all its receives, and waits.

Rank r starts receives from r-1, r-2, ... and sends to r+1, r+2, ... (mod p), all at once. With `order="left"`, r sends to
r-1, r-2, ... and receives from r+1, r+2, ...; with `order="ascending"`, both are 0, 1, 2, ... In place, the blocks are
sent from a copy.

The ports determine the order of transfers: a rank's messages leave in the order of its sends, each as soon as the
receiver's port is free. If all ranks start at the same time, the i-th messages of all ranks go to different ranks, r+i or
r-i, so none waits for a receiver: as in `spread`, a message of every rank is transferred at any time. In ascending order
all ranks send to rank 0 first, and wait for each other.

    p = 4     has            gets          (block rs travels from r to s)
    rank 0    00 01 02 03    00 10 20 30
    rank 1    10 11 12 13    01 11 21 31
    rank 2    20 21 22 23    02 12 22 32
    rank 3    30 31 32 33    03 13 23 33

Rounds   no closed form    Sent per rank   (p-1) m bytes    Scratch   none; p m bytes in place
Time     (p-1) (t_s + m t_w); at least that with order "ascending", which has no closed form
Fits     any p; blocks of equal size
Best     networks that handle many messages at once; late ranks delay no other pair
Source   folklore; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Seconds, message
from collectives.patterns.pairs.at_once import SendOrder, exchange_all_at_once
from collectives.patterns.pairs.blocks import copy_own_block, sent_to_others
from collectives.tools.blocks import Layout, check_same_size, copy_of
from collectives.tools.protocol import Buffer, Comm


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    return None if alltoall_linear.parameter(case, "order") == "ascending" else (case.p - 1) * message(case.m, t_s, t_w)


def scratch(case: Case, rank: int) -> int:
    return case.p * case.m if case.in_place else 0


@algorithm(schedule=None, scratch=scratch, closed_sent=sent_to_others, closed_time=closed_time)
def alltoall_linear(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, order: SendOrder = "right", tag: int = 0
) -> None:
    """Exchange equal blocks between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    source = copy_of(recvbuf) if sendbuf is None else sendbuf
    check_same_size(source, recvbuf)
    copy_own_block(comm, layout.block(source, rank), layout.block(recvbuf, rank), tag)
    outgoing, incoming = (lambda other: layout.block(source, other)), (lambda other: layout.block(recvbuf, other))
    exchange_all_at_once(comm, outgoing, incoming, tag, order)
