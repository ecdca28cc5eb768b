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

from collectives.catalogue.algorithm import Algorithm
from collectives.shapes.star import EQUAL, TO_THE_ROOT, take_in
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


def gather_linear(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: int = 0, tag: int = 0) -> None:
    """Leave all blocks in the root's `recvbuf`; the root's `sendbuf` None means that its own is there already."""
    take_in("gather", comm, sendbuf, recvbuf, lambda whole, p: Layout.equal(whole.size, p), root, tag)


ALGORITHM = Algorithm(
    operation="gather",
    name="linear",
    run=gather_linear,
    **TO_THE_ROOT,
    **EQUAL,
)
