"""Allgather between groups by root gathering, as in MPICH: one direction after the other.

Rank 0 of each group collects its group's blocks by `gather`, both groups at once. Then the first group's root sends
them to the other's, which broadcasts them in its group by `bcast`; and only then the other way round. The first group
is the larger one, of two equal ones that with the larger blocks; where the groups are alike in both the caller says
`first=True` in one and `first=False` in the other (see `between.groups`; MPICH has a mark in the communicator).

    p = 4, q = 2, blocks 0 1 2 3 of A, x and y of B
              gathered     a_0 to b_0   bcast in B   b_0 to a_0   bcast in A
    a_0       0123 ..      ..           ..           xy           xy
    a_1 a_2.. .... ..      ..           ..           ..           xy
    b_0       xy ....      0123         0123         0123         0123
    b_1       .. ....      ....         0123         0123         0123

Rounds   2 + its parts'    Sent per rank   roots their group's + its parts'    Scratch   roots their group's
Time     at most (M + 3 p k_A + 3 q k_B) t_w; M = max((p-1) k_A, (q-1) k_B), where q | p k_A and p | q k_B, beside
         startups (Eq. 2); for any sizes by the schedule's recurrence, exact
Fits     any p and q; what its parts fit; blocks of equal size within a group; alike groups need `first`
Best     as the yardstick: what production libraries do
Source   Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup Allgather and
         Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Eq. 2
"""

from __future__ import annotations

from collectives.between.groups import check_local
from collectives.between.root_gathering import check_parts, collect, decided, in_turn
from collectives.between.root_gathering_claims import turns_claims
from collectives.catalogue.algorithm import Algorithm, Case
from collectives.intra.bcast import scatter_ring_allgather
from collectives.intra.gather import binomial
from collectives.tools.protocol import Buffer, Comm, Intercomm

GATHER, BCAST = binomial.ALGORITHM, scatter_ring_allgather.ALGORITHM
PARAMETERS = {"gather": GATHER, "bcast": BCAST, "first": None}


def allgather_root_gathering_mpich(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    gather: Algorithm = GATHER,
    bcast: Algorithm = BCAST,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Gather the blocks of the other group's ranks to all ranks of this one."""
    check_local(inter, local)
    p, q = inter.Get_size(), inter.Get_remote_size()
    check_parts(ALGORITHM, Case(p, q=q, parameters={"gather": gather, "bcast": bcast}))
    total = p * sendbuf.size
    goes_first = decided(ALGORITHM, (p, total), (q, recvbuf.size), first)
    whole = collect(local, sendbuf, total, None, gather, tag)
    in_turn(inter, local, whole, recvbuf, goes_first, bcast, tag)


ALGORITHM = Algorithm(
    operation="allgather",
    name="root_gathering_mpich",
    kind="inter",
    run=allgather_root_gathering_mpich,
    parameters=PARAMETERS,
    **turns_claims(PARAMETERS),
)
