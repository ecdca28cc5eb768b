"""Gatherv by sending: everybody sends its block straight to the root.

As gather by sending, with blocks of their own sizes; empty ones are not sent. Only the root needs to know the counts.

    p = 4, counts 2, 0, 1, 3     start      1st        2nd
    root 0                       00....     002...     002333

Rounds   non-empty blocks but the root's    Sent per rank   its m_r bytes, the root nothing    Scratch   none
Time     sum of (t_s + m_r t_w) over those blocks
Fits     any p
Best     long or very uneven blocks: nothing is sent twice; startups are linear in p
Source   folklore; analysed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm
from collectives.shapes.star import ANY_SIZE, TO_THE_ROOT, take_in
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


def gatherv_linear(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, counts: Sequence[int] | None, *, root: int = 0, tag: int = 0
) -> None:
    """Leave all blocks in the root's `recvbuf`; the root's `sendbuf` None means that its own is there already."""
    take_in("gatherv", comm, sendbuf, recvbuf, lambda _, p: Layout.of_ranks(counts, p), root, tag)


ALGORITHM = Algorithm(
    operation="gatherv",
    name="linear",
    run=gatherv_linear,
    **TO_THE_ROOT,
    **ANY_SIZE,
)
