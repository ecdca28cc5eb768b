"""Allgather by recursive doubling: pairs swap blocks, then pairs of pairs swap theirs, and so on.

In round k = 0 .. log2 p - 1 rank r swaps the 2^k blocks that it holds for those of the rank that differs in bit k.

    p = 4     start      k = 0      k = 1
    rank 0    0...       01..       0123
    rank 1    .1..       01..       0123
    rank 2    ..2.       ..23       0123
    rank 3    ...3       ..23       0123

Rounds   log2 p    Sent per rank   (p-1) m bytes    Scratch   none
Time     log2 p t_s + (p-1) m t_w
Fits     p a power of two; blocks of equal size
Best     p a power of two: fewest rounds, least data, and every block lands where it belongs
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case, power_of_two_only
from collectives.catalogue.closed_forms import all_blocks, all_but_own
from collectives.catalogue.schedule import Round, Transfer
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange
from collectives.tools.numbers import floor_log2
from collectives.tools.protocol import Buffer, Comm


def allgather_recursive_doubling(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Gather equal blocks to all ranks; `sendbuf` None means that the own block is in `recvbuf` already."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p))
    layout = Layout.equal(recvbuf.size, p)
    layout.put(recvbuf, rank, sendbuf)
    for k in range(floor_log2(p)):
        size = 1 << k
        partner = rank ^ size
        mine, theirs = rank & -size, partner & -size
        outgoing, incoming = layout.block(recvbuf, mine, mine + size), layout.block(recvbuf, theirs, theirs + size)
        exchange(comm, outgoing, partner, incoming, partner, tag)


def schedule(case: Case) -> Iterator[Round]:
    if case.m:
        for k in range(floor_log2(case.p)):
            yield [Transfer(r, r ^ (1 << k), case.m << k) for r in range(case.p)]


ALGORITHM = Algorithm(
    operation="allgather",
    name="recursive_doubling",
    run=allgather_recursive_doubling,
    schedule=schedule,
    fits=power_of_two_only,
    closed_sent=all_but_own,
    **all_blocks(floor_log2),
)
