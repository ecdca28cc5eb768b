"""Allgatherv between groups by root gathering, as in MPICH: one direction after the other.

As allgather by root gathering, with blocks of their own sizes. A rank knows the sizes in the other group, by `counts`,
but not in its own; so each group first gathers them to all by `allgather`, one count of 8 bytes a rank. Then rank 0 of
each group collects its group's blocks by `gatherv` (MPICH's is linear: a tree takes longer where the long blocks are far
from the root), both groups at once; the first group's root sends them to the other's, which broadcasts them in its group
by `bcast`; and only then the other way round. The first group is the larger one, of two equal ones that with more to
send; where they are alike the caller says `first=True` in one and `first=False` in the other (see `between.groups`);
that they are alike they know when the counts are gathered, so only then do they refuse.

    p = 4, q = 2, blocks 0 1 22 333 of A, x and y of B
              gathered     a_0 to b_0   bcast in B   b_0 to a_0   bcast in A
    a_0       0122333      ..           ..           xy           xy
    a_1 a_2.. .......      ..           ..           ..           xy
    b_0       xy           0122333      0122333      0122333      0122333
    b_1       ..           .......      0122333      0122333      0122333

Rounds   2 + its parts'    Sent per rank   roots their group's + its parts'    Scratch   roots their group's; all counts
Time     at most (M + 3 K_A + 3 K_B) t_w; K_A and K_B are the totals, M the larger, beside startups and counts (Eq. 2),
         where q | K_A and p | K_B; for any sizes by the schedule's recurrence, exact
Fits     any p and q; what its parts fit; alike groups need `first`
Best     as the yardstick: what the allgather does, for blocks of any size
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Eq. 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.root_gathering import in_turn_by_counts
from collectives.between.root_gathering_claims import turns_claims
from collectives.catalogue.algorithm import Algorithm
from collectives.intra.allgather import bruck
from collectives.intra.bcast import scatter_ring_allgather
from collectives.intra.gatherv import linear
from collectives.tools.protocol import Buffer, Comm, Intercomm

GATHERV, BCAST = linear.ALGORITHM, scatter_ring_allgather.ALGORITHM
ALLGATHER = bruck.ALGORITHM
PARAMETERS = {"gatherv": GATHERV, "allgather": ALLGATHER, "bcast": BCAST, "first": None}


def allgatherv_root_gathering_mpich(
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
    name="root_gathering_mpich",
    kind="inter",
    run=allgatherv_root_gathering_mpich,
    parameters=PARAMETERS,
    **turns_claims(PARAMETERS),
)
