"""Allgather by recursive doubling: the number of blocks that a rank holds doubles in each round.

In round k = 0 .. log2 p - 1 rank r holds 2^k blocks and exchanges them with the rank whose number differs in bit k.

    p = 4     start      k = 0      k = 1
    rank 0    0...       01..       0123
    rank 1    .1..       01..       0123
    rank 2    ..2.       ..23       0123
    rank 3    ...3       ..23       0123

Rounds   log2 p    Sent per rank   (p-1) m bytes    Scratch   none
Time     log2 p t_s + (p-1) m t_w
Fits     p a power of two; blocks of equal size
Best     p a power of two: fewest rounds, least data, and every block is received in place
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.array_round import ArrayRound
from collectives.catalogue.closed_forms import all_blocks, all_but_own
from collectives.catalogue.conditions import power_of_two_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round
from collectives.tools.blocks import Layout
from collectives.tools.messages import exchange
from collectives.tools.numbers import floor_log2
from collectives.tools.protocol import Buffer, Comm


def schedule(case: Case) -> Iterator[Round]:
    ranks = np.arange(case.p)
    if case.m:
        for k in range(floor_log2(case.p)):
            yield ArrayRound(ranks, ranks ^ (1 << k), case.m << k)


@algorithm(schedule=schedule, why_unsupported=power_of_two_only, closed_sent=all_but_own, closed_time=all_blocks(floor_log2))
def allgather_recursive_doubling(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Gather equal blocks to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    layout.put(recvbuf, rank, sendbuf)
    for k in range(floor_log2(p)):
        size = 1 << k
        partner = rank ^ size
        own_first, partner_first = rank & -size, partner & -size  # the first block that each of the two holds
        outgoing = layout.block(recvbuf, own_first, own_first + size)
        incoming = layout.block(recvbuf, partner_first, partner_first + size)
        exchange(comm, outgoing, partner, incoming, partner, tag)
