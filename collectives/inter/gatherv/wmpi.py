"""Gatherv between groups as in WMPI: everybody sends its block straight to the root.

As gather wmpi, with blocks of their own sizes; empty ones are not sent. Only the root needs to know the counts.

    p = 4 leaves b_0 .. b_3, root a_1 (a_0 and a_2 have no part), counts 2, 0, 1, 3
              start      1st        2nd        3rd
    a_1       ......     00....     002...     002333

Rounds   blocks that are not empty    Sent per rank   its m_j bytes, A nothing    Scratch   none
Time     sum of (t_s + m_j t_w) over those blocks
Fits     any p and q
Best     long or very uneven blocks: nothing is sent twice; startups are linear in q
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.groups import Part
from collectives.between.rooted import check_root, take_in
from collectives.between.rooted_claims import gather_claims
from collectives.catalogue.algorithm import Algorithm
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm


def gatherv_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    counts: Sequence[int] | None,
    *,
    root: Part | int,
    tag: int = 0,
) -> None:
    """Leave the blocks of the other group's ranks in the root's `recvbuf`."""
    check_root(inter, local, root)
    take_in("gatherv", inter, sendbuf, recvbuf, lambda _, q: Layout.of_ranks(counts, q), root, tag)


ALGORITHM = Algorithm(
    operation="gatherv",
    name="wmpi",
    kind="inter",
    run=gatherv_wmpi,
    **gather_claims(),
)
