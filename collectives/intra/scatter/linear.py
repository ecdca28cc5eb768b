"""Scatter, linear: the root sends each rank its block.

The root starts a send to each other rank, in rank order, and waits for all of them. The blocks leave one after the
other, since the root has one port.

    p = 4     start      1st        2nd        3rd
    root 0    0123       0123       0123       0123
    rank 1    ....       .1..       .1..       .1..
    rank 2    ....       ....       ..2.       ..2.
    rank 3    ....       ....       ....       ...3

Rounds   p-1    Sent per rank   (p-1) m bytes from the root    Scratch   none
Time     (p-1) (t_s + m t_w)
Fits     any p; blocks of equal size
Best     long blocks: each block is sent once; start-ups are linear in p
Source   folklore; analyzed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collectives.catalogue.closed_forms import one_message_per_round, other_ranks
from collectives.catalogue.declaration import algorithm
from collectives.patterns.star import FROM_THE_ROOT, scatter_direct
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


@algorithm(**FROM_THE_ROOT, closed_time=one_message_per_round(other_ranks))
def scatter_linear(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: int = 0, tag: int = 0) -> None:
    """Copy the rank's block of the root's `sendbuf` to `recvbuf`; if the root's is None, its block stays in place."""
    scatter_direct("scatter", comm, sendbuf, recvbuf, lambda whole, p: Layout.equal(whole.size, p), root, tag)
