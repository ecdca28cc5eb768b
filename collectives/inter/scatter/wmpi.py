"""Scatter between groups as in WMPI: the root sends each rank of the other group its block.

The root starts a send to each leaf (a rank of the other group), in rank order, and waits for all sends. The blocks are sent
one after the other, since the root has one port. The other ranks of the root's group pass PROC_NULL and return immediately.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle)
              start     1st       2nd       3rd       4th
    a_1       0123      0123      0123      0123      0123
    b_0       ....      0...      0...      0...      0...
    b_1       ....      ....      .1..      .1..      .1..
    b_2       ....      ....      ....      ..2.      ..2.
    b_3       ....      ....      ....      ....      ...3

Rounds   q    Sent per rank   q m bytes from the root    Scratch   none
Time     q (t_s + m t_w)
Fits     any p and q; blocks of equal size
Best     as a baseline: each block is sent once, but start-ups are linear in q; never faster than binomial in this model
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import RootRole
from collectives.inter_patterns.rooted import check_root, scatter_direct
from collectives.inter_patterns.rooted_claims import scatter_claims
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm


@algorithm(**scatter_claims())
def scatter_wmpi(
    inter: Intercomm, local: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: RootRole | int, tag: int = 0
) -> None:
    """Copy the rank's block of the root's `sendbuf` to `recvbuf`; the root is in the other group."""
    check_root(inter, local, root)
    scatter_direct("scatter", inter, sendbuf, recvbuf, lambda whole, q: Layout.equal(whole.size, q), root, tag)
