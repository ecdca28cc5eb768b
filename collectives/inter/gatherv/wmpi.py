"""Gatherv between groups as in WMPI: every rank sends its block directly to the root.

The algorithm is that of gather wmpi, for blocks of different sizes; empty blocks are not sent. Only the root needs to
know the counts.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle), counts 2, 0, 1, 3
              start      1st        2nd        3rd
    a_1       ......     00....     002...     002333

Rounds   nonempty blocks    Sent per rank   its m_j bytes; none in A    Scratch   none
Time     sum of (t_s + m_j t_w) over those blocks
Fits     any p and q
Best     long or very uneven blocks: each block is sent once; start-ups are linear in q
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import RootRole
from collectives.inter_patterns.rooted import check_root, gather_direct
from collectives.inter_patterns.rooted_claims import gather_claims
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm


@algorithm(**gather_claims())
def gatherv_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    counts: Sequence[int] | None,
    *,
    root: RootRole | int,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to the root's `recvbuf`."""
    check_root(inter, local, root)
    gather_direct("gatherv", inter, sendbuf, recvbuf, lambda _, q: Layout.of_ranks(counts, q), root, tag)
