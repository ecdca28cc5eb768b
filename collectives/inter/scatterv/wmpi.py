"""Scatterv between groups as in WMPI: the root sends each rank of the other group its block.

The algorithm is that of scatter wmpi, for blocks of different sizes; empty blocks are not sent. Only the root needs to
know the counts.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle), counts 2, 0, 1, 3
              start      1st        2nd        3rd
    b_0       ......     00....     00....     00....
    b_2       ......     ......     ..2...     ..2...
    b_3       ......     ......     ......     ...333

Rounds   nonempty blocks    Sent per rank   all blocks, from the root    Scratch   none
Time     sum of (t_s + m_j t_w) over those blocks
Fits     any p and q
Best     long or very uneven blocks: each block is sent once; start-ups are linear in q
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import RootRole
from collectives.inter_patterns.rooted import check_root, scatter_direct
from collectives.inter_patterns.rooted_claims import scatter_claims
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm


@algorithm(**scatter_claims())
def scatterv_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    counts: Sequence[int] | None,
    *,
    root: RootRole | int,
    tag: int = 0,
) -> None:
    """Copy the rank's block of the root's `sendbuf` to `recvbuf`; the root is in the other group."""
    check_root(inter, local, root)
    scatter_direct("scatterv", inter, sendbuf, recvbuf, lambda _, q: Layout.of_ranks(counts, q), root, tag)
