"""Allgatherv between groups by root gathering with a ring: the blocks go to the roots from neighbour to neighbour.

As allgatherv by root gathering as in MPICH, but the blocks reach the root of a group along a ring: everybody passes on to
the left what came from the right. Where all links are equal and the blocks too, this takes no longer than a tree; where
one link of the ring is slow, or one block long, every step waits for it. Kang et al. explain with it why they measured
up to 23.67 times the time of their algorithm at 256 nodes, where the model says 7.

    p = 4, blocks 0 1 22 333 of A     a_3 -> a_2 -> a_1 -> a_0, a block a step: 0, 01, 0122, 0122333; then as there

Rounds   2 + its parts'    Sent per rank   roots their group's + its parts'    Scratch   roots their group's; all counts
Time     at most (M + 3 K_A + 3 K_B) t_w; K_A and K_B are the totals, M the larger, beside startups and counts (Eq. 2),
         for equal blocks, q | K_A and p | K_B; for any sizes by the schedule's recurrence, exact
Fits     any p and q; what its parts fit; alike groups need `first`
Best     as the yardstick: what MPICH was seen to do
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, section 5
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.root_gathering import in_turn_by_counts
from collectives.between.root_gathering_claims import turns_claims
from collectives.catalogue.algorithm import Algorithm
from collectives.intra.allgather import bruck
from collectives.intra.bcast import scatter_ring_allgather
from collectives.intra.gatherv import ring
from collectives.tools.protocol import Buffer, Comm, Intercomm

GATHERV, BCAST = ring.ALGORITHM, scatter_ring_allgather.ALGORITHM
ALLGATHER = bruck.ALGORITHM
PARAMETERS = {"gatherv": GATHERV, "allgather": ALLGATHER, "bcast": BCAST, "first": None}


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
    """Gather the blocks of the other group's ranks to all ranks of this one."""
    parts = {"gatherv": gatherv, "allgather": allgather, "bcast": bcast}
    in_turn_by_counts(ALGORITHM, inter, local, sendbuf, recvbuf, counts, parts, first, tag)


ALGORITHM = Algorithm(
    operation="allgatherv",
    name="root_gathering_ring",
    kind="inter",
    run=allgatherv_root_gathering_ring,
    parameters=PARAMETERS,
    **turns_claims(PARAMETERS),
)
