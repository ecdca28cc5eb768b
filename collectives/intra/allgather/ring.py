"""Allgather by ring: everybody passes on to the right what came from the left.

In round k = 0 .. p-2 rank r sends block r-k to r+1 and receives block r-k-1 from r-1 (mod p).

    p = 4     start      k = 0      k = 1      k = 2
    rank 0    0...       0..3       0.23       0123
    rank 1    .1..       01..       01.3       0123
    rank 2    ..2.       .12.       012.       0123
    rank 3    ...3       ..23       .123       0123

Rounds   p-1                    Sent per rank   (p-1) m bytes    Scratch   none
Time     (p-1) (t_s + m t_w)
Fits     any p; blocks of equal size
Best     long blocks: no rank sends more than it must, and only to a neighbour; latency is linear in p
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.algorithm import Algorithm, Case
from collectives.blocks import Layout
from collectives.messages import exchange
from collectives.protocol import Buffer, Comm
from collectives.schedule import Round, Seconds, Transfer, message


def allgather_ring(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Gather equal blocks to all ranks; `sendbuf` None means that the own block is in `recvbuf` already."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    layout.put(recvbuf, rank, sendbuf)
    left, right = (rank - 1) % p, (rank + 1) % p
    for k in range(p - 1):
        outgoing = layout.block(recvbuf, (rank - k) % p)
        incoming = layout.block(recvbuf, (rank - k - 1) % p)
        exchange(comm, outgoing, right, incoming, left, tag)


def schedule(case: Case) -> Iterator[Round]:
    if case.m:
        for _ in range(case.p - 1):
            yield [Transfer(r, (r + 1) % case.p, case.m) for r in range(case.p)]


def closed_rounds(case: Case) -> int:
    return case.p - 1 if case.m else 0


def closed_sent(case: Case, rank: int) -> int:
    return (case.p - 1) * case.m


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return (case.p - 1) * message(case.m, t_s, t_w)


ALGORITHM = Algorithm(
    operation="allgather",
    name="ring",
    run=allgather_ring,
    schedule=schedule,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
)
