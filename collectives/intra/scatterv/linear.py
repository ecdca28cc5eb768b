"""Scatterv, linear: the root sends each rank its block.

The algorithm is that of scatter linear, for blocks of different sizes; empty blocks are not sent. Only the root needs
to know the counts.

    p = 4, counts 2, 0, 1, 3     start      1st        2nd
    rank 2                       ......     ..2...     ..2...
    rank 3                       ......     ......     ...333

Rounds   nonempty blocks except the root's    Sent per rank   all those blocks, from the root    Scratch   none
Time     sum of (t_s + m_r t_w) over those blocks
Fits     any p
Best     long or very uneven blocks: each block is sent once; start-ups are linear in p
Source   folklore; analyzed by Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, Cluster
         Computing 10 (2007), doi:10.1007/s10586-007-0012-0
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.patterns.star import FROM_THE_ROOT, scatter_direct, sequential_time
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


@algorithm(**FROM_THE_ROOT, closed_time=sequential_time)
def scatterv_linear(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, counts: Sequence[int] | None, *, root: int = 0, tag: int = 0
) -> None:
    """Copy the rank's block of the root's `sendbuf` to `recvbuf`; if the root's is None, its block stays in place."""
    scatter_direct("scatterv", comm, sendbuf, recvbuf, lambda _, p: Layout.of_ranks(counts, p), root, tag)
