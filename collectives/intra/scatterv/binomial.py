"""Scatterv by a binomial tree: the blocks of half the ranks go to one rank, which distributes them like the root.

The algorithm is that of scatter by a binomial tree, for blocks of different sizes. All ranks must know the counts. A
subtree without data receives nothing.

    p = 4, counts 2, 0, 1, 3     start      1st        2nd
    v = 0                        002333     00....     00....
    v = 1                        ......     ......     ......
    v = 2                        ......     ..2333     ..2...
    v = 3                        ......     ......     ...333

Rounds   at most ceil(log2 p)    Sent per rank   its subtree's blocks but its own    Scratch   its subtree's blocks
Time     computed from the schedule
Fits     any p; counts known to all
Best     short blocks; a long block far from the root travels log2 p times
Source   Johnsson, Ho, Optimum broadcasting and personalized communication in hypercubes, IEEE Transactions on
         Computers 38 (1989), doi:10.1109/12.29465 (equal blocks)
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.patterns.binomial import SCATTER_CLAIMS, scatter_down
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


@algorithm(**SCATTER_CLAIMS)
def scatterv_binomial(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, counts: Sequence[int], *, root: int = 0, tag: int = 0
) -> None:
    """Copy the rank's block of the root's `sendbuf` to `recvbuf`; if the root's is None, its block stays in place."""
    scatter_down(comm, sendbuf, recvbuf, Layout.of_ranks(counts, comm.Get_size()), root, tag)
