"""Allgatherv between groups as in WMPI: every rank sends to the other group's leader, which broadcasts in its group.

The algorithm is that of allgather wmpi, for blocks of different sizes; empty blocks are not sent. Every rank knows the
other group's counts; its own group's are not needed.

    p = 4, q = 2, blocks 0 1 22 333 of A, x and y of B
              to leaders   bcast
    a_0       xy           xy
    a_1 a_2.. ..           xy
    b_0       0122333      0122333
    b_1       .......      0122333

Rounds   max(p, q) + bcast    Sent per rank   own block + bcast    Scratch   bcast
Time     sum of (t_s + m_i t_w) + bcast; these are the terms of the group whose leader receives its last block later. If
         the broadcast of the other group is longer, there is no closed form, since the time depends on the order in
         which a leader's port receives the blocks
Fits     any p and q; cases that `bcast` supports
Best     short blocks: one hop to the leaders and no gather before; a leader sends long blocks ceil(log2 p) times
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import checked_sizes
from collectives.inter_patterns.leaders import by_leaders, leader_claims
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm

PARAMETERS = {"bcast": bcast_binomial}


@algorithm(parameters=PARAMETERS, **leader_claims(PARAMETERS))
def allgatherv_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    bcast: Algorithm = bcast_binomial,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this group."""
    _, q = checked_sizes(inter, local)
    layout = Layout.of_ranks(counts, q)
    by_leaders(inter, local, sendbuf, recvbuf, layout, bcast, tag)
