"""Allgather between groups by root gathering, as in MPICH: one direction after the other.

Rank 0 of each group collects its group's blocks by `gather`, both groups at once. Then the first group's root sends
them to the other root, which broadcasts them in its group by `bcast`; then the same in the other direction. The first
group is the larger one; of two groups of equal size, the one with the larger blocks. If the block sizes are equal too,
the caller passes `first=True` in one group and `first=False` in the other (see `inter_patterns.groups`; MPICH stores a
flag in the communicator).

    p = 4, q = 2, blocks 0 1 2 3 of A, x and y of B
              gathered     a_0 to b_0   bcast in B   b_0 to a_0   bcast in A
    a_0       0123 ..      ..           ..           xy           xy
    a_1 a_2.. .... ..      ..           ..           ..           xy
    b_0       xy ....      0123         0123         0123         0123
    b_1       .. ....      ....         0123         0123         0123

Rounds   2 + parts    Sent per rank   parts; on roots + the group's blocks
         Scratch   parts; on roots + the group's blocks
Time     at most (M + 3 p k_A + 3 q k_B) t_w; M = max((p-1) k_A, (q-1) k_B), if q | p k_A and p | q k_B, plus start-ups
         (Eq. 2); the exact time, for any sizes, is computed from the schedule
Fits     any p and q; cases that its parts support; blocks of equal size within a group; equal groups need `first`
Best     as a baseline: the algorithm of production libraries
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Eq. 2
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.root_gathering import check_parts, collect, exchange_in_turn, resolve_first
from collectives.inter_patterns.root_gathering_claims import in_turn_claims
from collectives.intra.bcast.scatter_ring_allgather import bcast_scatter_ring_allgather
from collectives.intra.gather.binomial import gather_binomial
from collectives.tools.local import check_local
from collectives.tools.protocol import Buffer, Comm, Intercomm

PARAMETERS = {"gather": gather_binomial, "bcast": bcast_scatter_ring_allgather, "first": None}


@algorithm(checks_itself=True, parameters=PARAMETERS, **in_turn_claims(PARAMETERS))
def allgather_root_gathering_mpich(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    gather: Algorithm = gather_binomial,
    bcast: Algorithm = bcast_scatter_ring_allgather,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this group."""
    check_local(inter, local)
    p, q = inter.Get_size(), inter.Get_remote_size()
    check_parts(allgather_root_gathering_mpich, Case(p, q=q, parameters={"gather": gather, "bcast": bcast}))
    total = p * sendbuf.size
    goes_first = resolve_first(allgather_root_gathering_mpich, (p, total), (q, recvbuf.size), first)
    whole = collect(local, sendbuf, total, None, gather, tag)
    exchange_in_turn(inter, local, whole, recvbuf, goes_first, bcast, tag)
