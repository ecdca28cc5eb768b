"""Allgather by neighbour exchange: everybody talks to its two neighbours in turn, two blocks at a time.

Ranks 2a and 2a+1 first swap their blocks and so both hold pair a. In round i = 1 .. p/2 - 1 each swaps the pair that it
got last: an even rank with its left neighbour if i is odd, with its right one if i is even, an odd rank the other
way round. So rank 2a receives the pairs a-1, a+1, a-2, a+2, ..., and rank 2a+1 the pairs a+1, a-1, a+2, a-2, ...

    p = 4     start      i = 0      i = 1
    rank 0    0...       01..       0123
    rank 1    .1..       01..       0123
    rank 2    ..2.       ..23       0123
    rank 3    ...3       ..23       0123

Rounds   p/2    Sent per rank   (p-1) m bytes    Scratch   none
Time     p/2 t_s + (p-1) m t_w
Fits     p even (or 1); blocks of equal size
Best     long blocks where neighbours are near: half the rounds of the ring
Source   Chen, Zhang, Zhang, Yuan, Performance evaluation of allgather algorithms on terascale Linux cluster with fast
         Ethernet, HPC Asia 2005, doi:10.1109/HPCASIA.2005.75
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case, even_only
from collectives.catalogue.closed_forms import all_blocks, all_but_own
from collectives.catalogue.schedule import Round, Transfer
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm


def allgather_neighbor_exchange(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Gather equal blocks to all ranks; `sendbuf` None means that the own block is in `recvbuf` already."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p))
    layout = Layout.equal(recvbuf.size, p)
    layout.put(recvbuf, rank, sendbuf)
    if p == 1:
        return
    partner = rank ^ 1
    exchange(comm, layout.block(recvbuf, rank), partner, layout.block(recvbuf, partner), partner, tag)
    for i in range(1, p // 2):
        sent, received = _newest_pair(rank, i - 1, p), _newest_pair(rank, i, p)
        partner = _partner(rank, i, p)
        outgoing = layout.block(recvbuf, 2 * sent, 2 * sent + 2)
        incoming = layout.block(recvbuf, 2 * received, 2 * received + 2)
        exchange(comm, outgoing, partner, incoming, partner, tag)


def _partner(rank: int, i: int, p: int) -> int:
    """With whom a rank swaps in round i: even ranks go left in odd rounds."""
    return (rank - 1) % p if (rank + i) % 2 else (rank + 1) % p


def _newest_pair(rank: int, i: int, p: int) -> int:
    """Which pair a rank got in round i; in round 0 its own."""
    away = (i + 1) // 2 * (-1 if (rank + i) % 2 else 1)
    return (rank // 2 + away) % (p // 2)


def schedule(case: Case) -> Iterator[Round]:
    p = case.p
    if case.m and p > 1:
        yield [Transfer(r, r ^ 1, case.m) for r in range(p)]
        for i in range(1, p // 2):
            yield [Transfer(r, (r - 1 if (r + i) % 2 else r + 1) % p, 2 * case.m) for r in range(p)]


ALGORITHM = Algorithm(
    operation="allgather",
    name="neighbor_exchange",
    run=allgather_neighbor_exchange,
    schedule=schedule,
    fits=even_only,
    closed_sent=all_but_own,
    **all_blocks(lambda p: p // 2),
)
