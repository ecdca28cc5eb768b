"""Gatherv by a binomial tree: neighbors join their blocks, then pairs join theirs, and so on up to the root.

The algorithm is that of gather by a binomial tree, for blocks of different sizes. All ranks must know the counts. A
subtree without data sends nothing.

    p = 4, counts 2, 0, 1, 3     start      1st        2nd
    v = 0                        00....     00....     002333
    v = 1                        ......
    v = 2                        ..2...     ..2333
    v = 3                        ...333

Rounds   at most ceil(log2 p)    Sent per rank   its subtree's blocks    Scratch   its subtree's blocks
Time     computed from the schedule
Fits     any p; counts known to all
Best     short blocks; a long block far from the root travels log2 p times
Source   Thakur, Rabenseifner, Gropp, Optimization of Collective Communication Operations in MPICH, International
         Journal of High Performance Computing Applications 19 (2005), doi:10.1177/1094342005051521 (equal blocks)
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.patterns.binomial import GATHER_CLAIMS, gather_up
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm


@algorithm(**GATHER_CLAIMS)
def gatherv_binomial(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, counts: Sequence[int], *, root: int = 0, tag: int = 0
) -> None:
    """Gather all blocks to the root's `recvbuf`; if the root's `sendbuf` is None, its block is there already."""
    gather_up(comm, sendbuf, recvbuf, Layout.of_ranks(counts, comm.Get_size()), root, tag)
