"""Gatherv, linear: every rank sends its block directly to the root.

The algorithm is the same as for gather linear, but blocks may have different sizes, and empty blocks are not sent. Only the
root needs to know the counts.

    p = 4, counts 2, 0, 1, 3     start      1st        2nd
    root 0                       00....     002...     002333

Rounds   nonempty blocks except the root's    Sent per rank   its m_r bytes, the root none    Scratch   none
Time     sum of (t_s + m_r t_w) over those blocks
Fits     any p
Best     long or very uneven blocks: each block is sent once; start-ups are linear in p
Source   folklore; analyzed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.patterns.star import TO_THE_ROOT, gather_direct, sequential_time
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


@algorithm(**TO_THE_ROOT, closed_time=sequential_time)
def gatherv_linear(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, counts: Sequence[int] | None, *, root: int = 0, tag: int = 0
) -> None:
    """Gather all blocks to the root's `recvbuf`; if the root's `sendbuf` is None, its block is there already."""
    gather_direct("gatherv", comm, sendbuf, recvbuf, lambda _, p: Layout.of_ranks(counts, p), root, tag)
