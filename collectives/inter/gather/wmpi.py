"""Gather between groups as in WMPI: every rank sends its block directly to the root.

The root starts a receive from each rank of the other group, in rank order, and waits for all of them. The blocks arrive
one after the other, since the root has one port. The other ranks of the root's group pass PROC_NULL and return
immediately.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle)
              start     1st       2nd       3rd       4th
    a_1       ....      0...      01..      012.      0123
    b_j       sends its block to a_1

Rounds   q    Sent per rank   m bytes; none in A    Scratch   none
Time     q (t_s + m t_w) with q leaves
Fits     any p and q; blocks of equal size
Best     long blocks: each block is sent once; start-ups are linear in q
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import RootRole
from collectives.inter_patterns.rooted import check_root, gather_direct
from collectives.inter_patterns.rooted_claims import gather_claims
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm


@algorithm(**gather_claims())
def gather_wmpi(
    inter: Intercomm, local: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: RootRole | int, tag: int = 0
) -> None:
    """Gather the blocks of the other group's ranks to the root's `recvbuf`."""
    check_root(inter, local, root)
    gather_direct("gather", inter, sendbuf, recvbuf, lambda whole, q: Layout.equal(whole.size, q), root, tag)
