"""Allgatherv between groups as in WMPI: everybody sends to the other group's leader, which broadcasts in its own.

As allgather wmpi, with blocks of their own sizes; empty ones are not sent. Everybody knows the other group's
counts, nobody needs its own's.

    p = 4, q = 2, blocks 0 1 22 333 of A, x and y of B
              to leaders   bcast
    a_0       xy           xy
    a_1 a_2.. ..           xy
    b_0       0122333      0122333
    b_1       .......      0122333

Rounds   max(p, q) + bcast's    Sent per rank   own block + bcast's    Scratch   bcast's
Time     sum of (t_s + m_i t_w) + bcast's; that of the group whose leader has all blocks last, if its broadcast is not the
         shorter one; otherwise no closed form, since it depends on the order in which a leader's one port takes blocks in
Fits     any p and q; what `bcast` fits
Best     short blocks: one hop to the leaders and no gather before; long ones leave the leaders ceil(log2 p) times
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.groups import check_call
from collectives.between.leaders import by_leaders, leader_claims
from collectives.catalogue.algorithm import Algorithm
from collectives.intra.bcast import binomial
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm

BCAST = binomial.ALGORITHM
PARAMETERS = {"bcast": BCAST}


def allgatherv_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    bcast: Algorithm = BCAST,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this one."""
    _, q = check_call(ALGORITHM, inter, local, {"bcast": bcast})
    layout = Layout.of_ranks(counts, q)
    by_leaders(inter, local, sendbuf, recvbuf, layout, bcast, tag)


ALGORITHM = Algorithm(
    operation="allgatherv",
    name="wmpi",
    kind="inter",
    run=allgatherv_wmpi,
    parameters=PARAMETERS,
    **leader_claims(PARAMETERS),
)
