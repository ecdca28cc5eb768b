"""Alltoall by spreading out: everybody sends to its right neighbour, then to the one after that, and so on.

In round i = 1 .. p-1 rank r sends to r+i the block for it and receives from r-i the block for r (mod p). In place, the
blocks are sent from a copy, since a block comes in long before the one that it replaces has gone out.

    p = 4     start          i = 1          i = 2          i = 3        (block rs is on its way from r to s)
    rank 0    00 .. .. ..    00 .. .. 30    00 .. 20 30    00 10 20 30
    rank 1    .. 11 .. ..    01 11 .. ..    01 11 .. 31    01 11 21 31
    rank 2    .. .. 22 ..    .. 12 22 ..    02 12 22 ..    02 12 22 32
    rank 3    .. .. .. 33    .. .. 23 33    .. 13 23 33    03 13 23 33

Rounds   p-1    Sent per rank   (p-1) m bytes    Scratch   none; p m bytes in place
Time     (p-1) (t_s + m t_w)
Fits     any p; blocks of equal size
Best     long blocks on a full-duplex network: each travels once, and no rank ever rests, whatever p
Source   Fan, Gilray, Pascucci, Huang, Micinski, Kumar, Optimizing the Bruck Algorithm for Non-uniform All-to-all
         Communication, HPDC 2022, doi:10.1145/3502181.3531468 (describes it as spread-out)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.closed_forms import one_message_a_round, others
from collectives.catalogue.schedule import Round, Transfer
from collectives.shapes.pairs import keep, sent_to_others
from collectives.tools.blocks import Layout, check_same_size, copy_of
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm


def alltoall_spread(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Swap equal blocks between all ranks; `sendbuf` None means that `recvbuf` holds what is to be sent."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    source = copy_of(recvbuf) if sendbuf is None else sendbuf
    check_same_size(source, recvbuf)
    keep(comm, layout.block(source, rank), layout.block(recvbuf, rank), tag)
    for i in range(1, p):
        to, sender = (rank + i) % p, (rank - i) % p
        exchange(comm, layout.block(source, to), to, layout.block(recvbuf, sender), sender, tag)


def schedule(case: Case) -> Iterator[Round]:
    if case.m:
        for i in range(1, case.p):
            yield [Transfer(r, (r + i) % case.p, case.m) for r in range(case.p)]


def scratch(case: Case, rank: int) -> int:
    return case.p * case.m if case.in_place else 0


ALGORITHM = Algorithm(
    operation="alltoall",
    name="spread",
    run=alltoall_spread,
    schedule=schedule,
    scratch=scratch,
    closed_sent=sent_to_others,
    **one_message_a_round(others),
)
