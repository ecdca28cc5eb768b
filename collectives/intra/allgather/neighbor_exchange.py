"""Allgather by neighbor exchange: every rank alternates between its two neighbors, two blocks at a time.

Ranks 2a and 2a+1 first exchange their blocks, so that both hold pair a. In round i = 1 .. p/2 - 1 each rank exchanges
the pair that it received last: an even rank with its left neighbor if i is odd and with its right neighbor if i is
even, an odd rank the other way round. Rank 2a therefore receives the pairs a-1, a+1, a-2, a+2, ..., and rank 2a+1 the
pairs a+1, a-1, a+2, a-2, ...

    p = 4     start      i = 0      i = 1
    rank 0    0...       01..       0123
    rank 1    .1..       01..       0123
    rank 2    ..2.       ..23       0123
    rank 3    ...3       ..23       0123

Rounds   p/2    Sent per rank   (p-1) m bytes    Scratch   none
Time     p/2 t_s + (p-1) m t_w
Fits     p even (or 1); blocks of equal size
Best     long blocks where neighbors are close: half the rounds of the ring
Source   Chen, Zhang, Zhang, Yuan, Performance evaluation of allgather algorithms on terascale Linux cluster with fast
         Ethernet, HPC Asia 2005, doi:10.1109/HPCASIA.2005.75
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Case
from collectives.catalogue.closed_forms import all_blocks, all_but_own
from collectives.catalogue.conditions import even_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.patterns.plans.block_plans import gather_planned
from collectives.patterns.plans.neighbors import neighbor_steps
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


def schedule(case: Case) -> Iterator[Round]:
    p = case.p
    if case.m and p > 1:
        yield [Transfer(r, r ^ 1, case.m) for r in range(p)]
        for i in range(1, p // 2):
            yield [Transfer(r, (r - 1 if (r + i) % 2 else r + 1) % p, 2 * case.m) for r in range(p)]


@algorithm(schedule=schedule, why_unsupported=even_only, closed_sent=all_but_own, closed_time=all_blocks(lambda p: p // 2))
def allgather_neighbor_exchange(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Gather equal blocks to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    layout.put(recvbuf, rank, sendbuf)
    gather_planned(comm, recvbuf, layout, neighbor_steps(p, rank), tag)
