"""Alltoall by sending: everybody starts all its sends and all its receives, and waits.

Rank r starts receives from r-1, r-2, ... and sends to r+1, r+2, ... (mod p), all at once. What is served when, the
ports decide: a message waits for its sender's port, then for its receiver's, first come, first served. In place, the
blocks are sent from a copy.

    p = 4     has            gets          (block rs is on its way from r to s)
    rank 0    00 01 02 03    00 10 20 30
    rank 1    10 11 12 13    01 11 21 31
    rank 2    20 21 22 23    02 12 22 32
    rank 3    30 31 32 33    03 13 23 33

Rounds   no closed form    Sent per rank   (p-1) m bytes    Scratch   none; p m bytes in place
Time     no closed form; at least (p-1) (t_s + m t_w), the order of messages depends on timing
Fits     any p; blocks of equal size
Best     where the network sorts out many messages at once; ranks that come late hold up nobody else
Source   folklore; Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH,
         International Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.shapes.pairs import all_at_once, keep, sent_to_others
from collectives.tools.blocks import Layout, check_same_size, copy_of
from collectives.tools.protocol import Buffer, Comm


def alltoall_linear(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Swap equal blocks between all ranks; `sendbuf` None means that `recvbuf` holds what is to be sent."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    source = copy_of(recvbuf) if sendbuf is None else sendbuf
    check_same_size(source, recvbuf)
    keep(comm, layout.block(source, rank), layout.block(recvbuf, rank), tag)
    all_at_once(comm, lambda other: layout.block(source, other), lambda other: layout.block(recvbuf, other), tag)


def scratch(case: Case, rank: int) -> int:
    return case.p * case.m if case.in_place else 0


ALGORITHM = Algorithm(
    operation="alltoall",
    name="linear",
    run=alltoall_linear,
    schedule=None,
    scratch=scratch,
    closed_sent=sent_to_others,
)
