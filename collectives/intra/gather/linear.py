"""Gather, linear: every rank sends its block directly to the root.

The root starts a receive from each other rank, in rank order, and waits for all of them. The blocks arrive one after
the other, since the root has one port.

    p = 4     start      1st        2nd        3rd
    root 0    0...       01..       012.       0123
    rank r    sends block r to the root

Rounds   p-1    Sent per rank   m bytes, the root none    Scratch   none
Time     (p-1) (t_s + m t_w)
Fits     any p; blocks of equal size
Best     long blocks: each block is sent once; start-ups are linear in p
Source   folklore; analyzed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collectives.catalogue.closed_forms import one_message_per_round, other_ranks
from collectives.catalogue.declaration import algorithm
from collectives.patterns.star import TO_THE_ROOT, gather_direct
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


@algorithm(**TO_THE_ROOT, closed_time=one_message_per_round(other_ranks))
def gather_linear(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: int = 0, tag: int = 0) -> None:
    """Gather all blocks to the root's `recvbuf`; if the root's `sendbuf` is None, its block is there already."""
    gather_direct("gather", comm, sendbuf, recvbuf, lambda whole, p: Layout.equal(whole.size, p), root, tag)
