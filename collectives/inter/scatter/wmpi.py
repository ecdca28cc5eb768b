"""Scatter between groups as in WMPI: the root sends each rank of the other group its block.

The root starts a send to each rank of the other group, in rank order, and waits for them all; the
blocks leave one after the other, since it has one port. The ranks beside the root (PROC_NULL) send nothing, receive
nothing and return at once.

    p = 4 leaves b_0 .. b_3, root a_1 (a_0 and a_2 have no part)
              start     1st       2nd       3rd       4th
    a_1       0123      0123      0123      0123      0123
    b_0       ....      0...      0...      0...      0...
    b_1       ....      ....      .1..      .1..      .1..
    b_2       ....      ....      ....      ..2.      ..2.
    b_3       ....      ....      ....      ....      ...3

Rounds   q    Sent per rank   q m bytes from the root    Scratch   none
Time     q (t_s + m t_w) with q leaves
Fits     any p and q; blocks of equal size
Best     long blocks: nothing is sent twice; startups are linear in q
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collectives.between.groups import Part
from collectives.between.rooted import check_root, deal_out
from collectives.between.rooted_claims import scatter_claims
from collectives.catalogue.algorithm import Algorithm
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm


def scatter_wmpi(
    inter: Intercomm, local: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, *, root: Part | int, tag: int = 0
) -> None:
    """Leave in `recvbuf` the rank's block of the `sendbuf` of the root in the other group."""
    check_root(inter, local, root)
    deal_out("scatter", inter, sendbuf, recvbuf, lambda whole, q: Layout.equal(whole.size, q), root, tag)


ALGORITHM = Algorithm(
    operation="scatter",
    name="wmpi",
    kind="inter",
    run=scatter_wmpi,
    **scatter_claims(),
)
