"""Allgatherv between groups by root gathering, both directions at once: gather, exchange of roots, broadcast.

The algorithm is that of allgather root_gathering_best, for blocks of different sizes. No rank knows the sizes in its
own group, so each group first gathers them to its rank 0, its root, by `gather`, one count of 8 bytes per rank. Then
every rank sends its block to its root, which knows the counts. The roots exchange their group's blocks, both directions
at once, and each broadcasts what it received by `bcast`.

    p = 4, q = 2, blocks 0 1 22 333 of A, x and y of B
              counts       gathered     exchanged    bcast
    a_0       1123         0122333      xy           xy
    a_1 a_2..                                        xy
    b_0       11           xy           0122333      0122333
    b_1                                              0122333

Rounds   1 + parts    Sent per rank   its block + parts; on roots + all blocks
         Scratch   parts; on roots + the group's blocks; counts
Time     computed from the schedule; about 3 max(K_A, K_B) t_w with small segments, plus start-ups; K_A and K_B are the
         totals
Fits     any p and q; cases that its parts support
Best     as a baseline: the best possible time with two roots, for blocks of any size
Source   Open MPI, ompi/mca/coll/inter/coll_inter_allgatherv.c, whose counts have 4 bytes; for equal blocks: Kang,
         Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and Allgatherv,
         Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Eq. 1
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import checked_sizes
from collectives.inter_patterns.root_gathering import collect_by_counts, exchange_at_once
from collectives.inter_patterns.root_gathering_claims import at_once_claims
from collectives.intra.bcast.circulant import SEGMENT_BYTES, bcast_circulant
from collectives.intra.gather.binomial import gather_binomial
from collectives.intra.gatherv.linear import gatherv_linear
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm

PARAMETERS = {"gather": gather_binomial, "bcast": bcast_circulant, "segment_bytes": SEGMENT_BYTES}


@algorithm(parameters=PARAMETERS, **at_once_claims({**PARAMETERS, "gatherv": gatherv_linear}))
def allgatherv_root_gathering_best(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    gather: Algorithm = gather_binomial,
    bcast: Algorithm = bcast_circulant,
    segment_bytes: int = SEGMENT_BYTES,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this group."""
    _, q = checked_sizes(inter, local)
    expected = Layout.of_ranks(counts, q).size(0, q)
    whole = collect_by_counts(local, sendbuf, gather, tag)
    exchange_at_once(inter, local, whole, recvbuf[0:expected], bcast, segment_bytes, tag)
