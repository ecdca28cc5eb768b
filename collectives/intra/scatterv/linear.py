"""Scatterv by sending: the root sends each rank its block.

The root starts a send to each other rank that is to receive something, in rank order, and waits for them all; the
blocks leave one after the other, since it has one port. Only the root needs to know the counts.

    p = 4, counts 2, 0, 1, 3     start      1st        2nd
    root 0                       002333     002333     002333
    rank 2                       ......     ..2...     ..2...
    rank 3                       ......     ......     ...333

Rounds   non-empty blocks but the root's    Sent per rank   all those blocks, from the root    Scratch   none
Time     sum of (t_s + m_r t_w) over those blocks
Fits     any p
Best     long or very uneven blocks: nothing is sent twice; startups are linear in p
Source   folklore; analysed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from collectives.algorithm import Algorithm, Case
from collectives.blocks import Layout, required
from collectives.messages import receive, wait_all
from collectives.protocol import Buffer, Comm
from collectives.schedule import Round, Seconds, Transfer, message


def scatterv_linear(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    counts: Sequence[int] | None,
    *,
    root: int = 0,
    tag: int = 0,
) -> None:
    """Leave in `recvbuf` the rank's block of the root's `sendbuf`; at the root, None leaves its own where it is."""
    p, rank = comm.Get_size(), comm.Get_rank()
    if rank != root:
        receive(comm, required(recvbuf, "a rank that receives its block"), root, tag)
        return
    sendbuf = required(sendbuf, "the root of a scatterv")
    layout = Layout.of_ranks(counts, p)
    layout.take(sendbuf, root, recvbuf)
    others = [other for other in range(p) if other != root and layout.size(other)]
    wait_all([comm.Isend(layout.block(sendbuf, other), other, tag) for other in others])


def schedule(case: Case) -> Iterator[Round]:
    for other, nbytes in _others(case):
        yield [Transfer(case.root, other, nbytes)]


def closed_rounds(case: Case) -> int:
    return len(_others(case))


def closed_sent(case: Case, rank: int) -> int:
    return sum(nbytes for _, nbytes in _others(case)) if rank == case.root else 0


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds:
    return sum(message(nbytes, t_s, t_w) for _, nbytes in _others(case))


def _others(case: Case) -> list[tuple[int, int]]:
    """The ranks that receive, with the bytes of their blocks."""
    layout = case.layout
    sizes = [(r, layout.size(r) * case.itemsize) for r in range(case.p) if r != case.root]
    return [(r, nbytes) for r, nbytes in sizes if nbytes]


ALGORITHM = Algorithm(
    operation="scatterv",
    name="linear",
    run=scatterv_linear,
    schedule=schedule,
    closed_rounds=closed_rounds,
    closed_sent=closed_sent,
    closed_time=closed_time,
)
