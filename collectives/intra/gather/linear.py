"""Gather by sending: everybody sends its block straight to the root.

The root starts a receive from each other rank, in rank order, and waits for them all; the blocks come in one after
the other, since it has one port.

    p = 4     start      1st        2nd        3rd
    root 0    0...       01..       012.       0123
    rank r    sends block r to the root

Rounds   p-1    Sent per rank   m bytes, the root nothing    Scratch   none
Time     (p-1) (t_s + m t_w)
Fits     any p; blocks of equal size
Best     long blocks: nothing is sent twice; startups are linear in p
Source   folklore; analysed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.algorithm import Algorithm, Case
from collectives.blocks import Layout, required
from collectives.messages import send, wait_all
from collectives.protocol import Buffer, Comm
from collectives.schedule import Round, Seconds, Transfer, message


def gather_linear(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: int = 0, tag: int = 0) -> None:
    """Leave all blocks in the root's `recvbuf`; the root's `sendbuf` None means that its own is there already."""
    p, rank = comm.Get_size(), comm.Get_rank()
    if rank != root:
        send(comm, required(sendbuf, "a rank that sends its block"), root, tag)
        return
    recvbuf = required(recvbuf, "the root of a gather")
    layout = Layout.equal(recvbuf.size, p)
    layout.put(recvbuf, root, sendbuf)
    others = [other for other in range(p) if other != root and layout.size(other)]
    wait_all([comm.Irecv(layout.block(recvbuf, other), other, tag) for other in others])


def schedule(case: Case) -> Iterator[Round]:
    if case.m:
        for other in range(case.p):
            if other != case.root:
                yield [Transfer(other, case.root, case.m)]


def closed_rounds(case: Case) -> int:
    return case.p - 1 if case.m else 0


def closed_sent(case: Case, rank: int) -> int:
    return 0 if rank == case.root else case.m


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return (case.p - 1) * message(case.m, t_s, t_w)


ALGORITHM = Algorithm(
    operation="gather",
    name="linear",
    run=gather_linear,
    schedule=schedule,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
)
