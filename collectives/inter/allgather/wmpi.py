"""Allgather between groups as in WMPI: every rank sends to the other group's leader, which broadcasts in its group.

The leader, rank 0 of its group, starts a receive from every rank of the other group, sends its own block to the other
leader at the same time, and waits; all other ranks send their block to the other leader. Then each leader broadcasts
the received blocks in its group by `bcast`, both groups at once.

    p = 4, q = 2, blocks 0 1 2 3 of A, x and y of B
              to leaders   bcast
    a_0       xy           xy
    a_1 a_2.. ..           xy
    b_0       0123         0123
    b_1       ....         0123

Rounds   max(p, q) + bcast    Sent per rank   own block + bcast    Scratch   bcast
Time     p (t_s + m t_w) + bcast; these are the terms of the group whose leader receives its last block later. If the
         broadcast of the other group is longer, there is no closed form, since the time depends on the order in which a
         leader's port receives the blocks
Fits     any p and q; cases that `bcast` supports; blocks of equal size within a group
Best     short blocks: one hop to the leaders and no gather before; a leader sends long blocks ceil(log2 p) times
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import checked_sizes
from collectives.inter_patterns.leaders import by_leaders, leader_claims
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm

PARAMETERS = {"bcast": bcast_binomial}


@algorithm(parameters=PARAMETERS, **leader_claims(PARAMETERS))
def allgather_wmpi(
    inter: Intercomm, local: Comm, sendbuf: Buffer, recvbuf: Buffer, *, bcast: Algorithm = bcast_binomial, tag: int = 0
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this group."""
    _, q = checked_sizes(inter, local)
    layout = Layout.equal(recvbuf.size, q)
    by_leaders(inter, local, sendbuf, recvbuf, layout, bcast, tag)
