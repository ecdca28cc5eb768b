"""Allreduce by k-ring: a reduce-scatter on rings within groups and a ring of groups, then the allgather by k-ring.

The message is cut into p nearly equal pieces. The allgather by k-ring in reverse reduces each piece on one rank, and the
allgather distributes the results (`plans.k_ring`, `plans.block_plans`), so all ranks receive the same result.

    p = 4, k = 2    start    within   between  within      within   between  within     (operands in each piece, then pieces)
    rank 0          1111     112.     31..     4...        01..     012.     0123
    rank 1          1111     11.2     13..     .4..        01..     01.3     0123
    rank 2          1111     2.11     ..31     ..4.        ..23     0.23     0123
    rank 3          1111     .211     ..13     ...4        ..23     .123     0123

Rounds   2 (p-1)    Sent per rank   about 2 m bytes    Scratch   m/p bytes
Time     2 (p-1) t_s + (p-1)/p m (2 t_w + c); if p does not divide the message, the time is computed from the schedule
Fits     k divides p; commutative ops
Bits     equal on all ranks; depend on p, position
Best     long messages where the ranks of a node or group share fast links and each has a link to the next group
Source   Wilkins et al., Generalized Collective Algorithms for the Exascale Era, IEEE CLUSTER 2023,
         doi:10.1109/CLUSTER52292.2023.00013 (derived from summaries; github.com/pmodels/mpich/pull/7177 links to it)
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import commutative_only
from collectives.catalogue.declaration import algorithm
from collectives.patterns.plans.block_plans import BlockExchanges
from collectives.patterns.plans.k_ring import GROUP, divides_ranks_only, k_ring_steps
from collectives.patterns.plans.plan_claims import allreduce_by, allreduce_claims
from collectives.tools.protocol import Buffer, Comm, Op


def steps_of(case: Case, rank: int) -> BlockExchanges:
    return k_ring_steps(case.p, case.parameters.get("k", GROUP), rank)


def why_unsupported(case: Case) -> str | None:
    return commutative_only(case) or divides_ranks_only(case)


@algorithm(**allreduce_claims(steps_of) | Claims(why_unsupported=why_unsupported))
def allreduce_k_ring(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, k: int = GROUP, tag: int = 0) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    p = comm.Get_size()
    allreduce_by(comm, sendbuf, recvbuf, k_ring_steps(p, k, comm.Get_rank()), op, tag)
