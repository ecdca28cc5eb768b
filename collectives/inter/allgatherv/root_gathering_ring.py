"""Allgatherv between groups by root gathering with a ring: the blocks travel to the roots from neighbor to neighbor.

The algorithm is that of allgatherv by root gathering as in MPICH, but the blocks reach the root of a group along a
ring: every rank forwards the blocks from its right neighbor to its left neighbor. If all links and all blocks are
equal, this takes no longer than a tree; if one link of the ring is slow, or one block long, every step waits for it.
Kang et al. use it to explain why they measured up to 23.67 times the time of their algorithm at 256 nodes, where the
model predicts 7 times.

    p = 4, blocks 0 1 22 333 of A     a_3 -> a_2 -> a_1 -> a_0, one block per step: 0, 01, 0122, 0122333; then as in MPICH

Rounds   2 + parts    Sent per rank   parts; on roots + the group's blocks
         Scratch   parts; on roots + the group's blocks; counts
Time     at most (M + 3 K_A + 3 K_B) t_w; K_A and K_B are the totals, M the larger, plus start-ups and counts (Eq. 2),
         for equal blocks, q | K_A and p | K_B; the exact time, for any sizes, is computed from the schedule
Fits     any p and q; cases that its parts support; equal groups need `first`
Best     as a baseline: the observed behavior of MPICH
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, section 5
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.root_gathering import exchange_in_turn_by_counts
from collectives.inter_patterns.root_gathering_claims import in_turn_claims
from collectives.intra.allgather import bruck
from collectives.intra.bcast import scatter_ring_allgather
from collectives.intra.gatherv import ring
from collectives.tools.protocol import Buffer, Comm, Intercomm

GATHERV, BCAST = ring.gatherv_ring, scatter_ring_allgather.bcast_scatter_ring_allgather
ALLGATHER = bruck.allgather_bruck
PARAMETERS = {"gatherv": GATHERV, "allgather": ALLGATHER, "bcast": BCAST, "first": None}


@algorithm(checks_itself=True, parameters=PARAMETERS, **in_turn_claims(PARAMETERS))
def allgatherv_root_gathering_ring(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    gatherv: Algorithm = GATHERV,
    allgather: Algorithm = ALLGATHER,
    bcast: Algorithm = BCAST,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this group."""
    parts = {"gatherv": gatherv, "allgather": allgather, "bcast": bcast}
    exchange_in_turn_by_counts(allgatherv_root_gathering_ring, inter, local, sendbuf, recvbuf, counts, parts, first, tag)
