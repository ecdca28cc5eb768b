"""Scatter by sending: the root sends each rank its block.

The root starts a send to each other rank, in rank order, and waits for them all; the blocks leave one after the other,
since it has one port.

    p = 4     start      1st        2nd        3rd
    root 0    0123       0123       0123       0123
    rank 1    ....       .1..       .1..       .1..
    rank 2    ....       ....       ..2.       ..2.
    rank 3    ....       ....       ....       ...3

Rounds   p-1    Sent per rank   (p-1) m bytes from the root    Scratch   none
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
from collectives.messages import receive, wait_all
from collectives.protocol import Buffer, Comm
from collectives.schedule import Round, Seconds, Transfer, message


def scatter_linear(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: int = 0, tag: int = 0) -> None:
    """Leave in `recvbuf` the rank's block of the root's `sendbuf`; at the root, None leaves its own where it is."""
    p, rank = comm.Get_size(), comm.Get_rank()
    if rank != root:
        receive(comm, required(recvbuf, "a rank that receives its block"), root, tag)
        return
    sendbuf = required(sendbuf, "the root of a scatter")
    layout = Layout.equal(sendbuf.size, p)
    layout.take(sendbuf, root, recvbuf)
    others = [other for other in range(p) if other != root and layout.size(other)]
    wait_all([comm.Isend(layout.block(sendbuf, other), other, tag) for other in others])


def schedule(case: Case) -> Iterator[Round]:
    if case.m:
        for other in range(case.p):
            if other != case.root:
                yield [Transfer(case.root, other, case.m)]


def closed_rounds(case: Case) -> int:
    return case.p - 1 if case.m else 0


def closed_sent(case: Case, rank: int) -> int:
    return (case.p - 1) * case.m if rank == case.root else 0


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return (case.p - 1) * message(case.m, t_s, t_w)


ALGORITHM = Algorithm(
    operation="scatter",
    name="linear",
    run=scatter_linear,
    schedule=schedule,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
)
