"""Gather between groups as in WMPI: everybody sends its block straight to the root.

The root starts a receive from each rank of the other group, in rank order, and waits for them all;
the blocks come in one after the other, since it has one port. The ranks beside the root (PROC_NULL) send nothing, receive
nothing and return at once.

    p = 4 leaves b_0 .. b_3, root a_1 (a_0 and a_2 have no part)
              start     1st       2nd       3rd       4th
    a_1       ....      0...      01..      012.      0123
    b_j       sends its block to a_1

Rounds   q    Sent per rank   m bytes, A nothing    Scratch   none
Time     q (t_s + m t_w) with q leaves
Fits     any p and q; blocks of equal size
Best     long blocks: nothing is sent twice; startups are linear in q
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collectives.between.groups import Part
from collectives.between.rooted import check_root, take_in
from collectives.between.rooted_claims import gather_claims
from collectives.catalogue.algorithm import Algorithm
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm


def gather_wmpi(
    inter: Intercomm, local: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: Part | int, tag: int = 0
) -> None:
    """Leave the blocks of the other group's ranks in the root's `recvbuf`."""
    check_root(inter, local, root)
    take_in("gather", inter, sendbuf, recvbuf, lambda whole, q: Layout.equal(whole.size, q), root, tag)


ALGORITHM = Algorithm(
    operation="gather",
    name="wmpi",
    kind="inter",
    run=gather_wmpi,
    **gather_claims(),
)
