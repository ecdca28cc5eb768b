"""Allgather between groups by root gathering, best case: the roots exchange, and both groups broadcast at once.

Rank 0 of each group collects its group's blocks by `gather`. The two roots exchange them, both directions at once. Each
root broadcasts the received blocks in its group by `bcast`, a pipelined broadcast with segments of `segment_bytes`.

    p = 4, q = 2, blocks 0 1 2 3 of A, x and y of B
              gathered     a_0 with b_0    bcast in A and B
    a_0       0123 ..      xy              xy
    a_1 a_2.. .... ..      ..              xy
    b_0       xy ....      0123            0123
    b_1       .. ....      ....            0123

Rounds   1 + parts    Sent per rank   parts; on roots + the group's blocks
         Scratch   parts; on roots + the group's blocks
Time     about 3 max(p k_A, q k_B) t_w; with small segments, plus start-ups (Eq. 1); the exact time is computed from the
         schedule
Fits     any p and q; cases that its parts support; blocks of equal size within a group
Best     as a baseline: the best possible time with two roots
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Eq. 1
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import checked_sizes
from collectives.inter_patterns.root_gathering import collect, exchange_at_once
from collectives.inter_patterns.root_gathering_claims import at_once_claims
from collectives.intra.bcast.circulant import SEGMENT_BYTES, bcast_circulant
from collectives.intra.gather.binomial import gather_binomial
from collectives.tools.protocol import Buffer, Comm, Intercomm

PARAMETERS = {"gather": gather_binomial, "bcast": bcast_circulant, "segment_bytes": SEGMENT_BYTES}


@algorithm(parameters=PARAMETERS, **at_once_claims(PARAMETERS))
def allgather_root_gathering_best(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    gather: Algorithm = gather_binomial,
    bcast: Algorithm = bcast_circulant,
    segment_bytes: int = SEGMENT_BYTES,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this group."""
    p, _ = checked_sizes(inter, local)
    whole = collect(local, sendbuf, p * sendbuf.size, None, gather, tag)
    exchange_at_once(inter, local, whole, recvbuf, bcast, segment_bytes, tag)
