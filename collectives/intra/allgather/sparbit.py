"""Allgather by Sparbit (stripe parallel binomial trees): far ranks first, so the longest messages go to neighbors.

In round k = ceil(log2 p) - 1 .. 0 rank r sends the blocks that it has to r + 2^k (mod p) and receives those of r - 2^k; a
block that the receiver already has is not sent. A rank has every 2^k-th block after a round, so blocks need no rotation at
the end, but they are not adjacent: here they are packed into one message (in the paper each block is a message).

    p = 4     start      k = 1      k = 0
    rank 0    0...       0.2.       0123
    rank 1    .1..       .1.3       0123
    rank 2    ..2.       0.2.       0123
    rank 3    ...3       .1.3       0123

Rounds   ceil(log2 p)    Sent per rank   (p-1) m bytes    Scratch   longest messages, packed
Time     ceil(log2 p) t_s + (p-1) m t_w
Fits     any p; blocks of equal size
Best     where neighboring ranks are close: fewest rounds and least data for any p, and the longest messages go to
         neighbors
Source   Loch, Koslovski, Sparbit: a new logarithmic-cost and data locality-aware MPI Allgather algorithm, 2021,
         arXiv:2109.08751 (derived from the abstract); in Open MPI's coll/base
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.patterns.plans.block_plans import BlockExchanges
from collectives.patterns.plans.plan_claims import allgather_by, allgather_claims
from collectives.patterns.plans.shifted_plans import shifted_steps, sparbit_shifts
from collectives.tools.protocol import Buffer, Comm


def steps_of(case: Case, rank: int) -> BlockExchanges:
    return shifted_steps(sparbit_shifts(case.p), rank, case.p)


@algorithm(**allgather_claims(steps_of))
def allgather_sparbit(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, tag: int = 0) -> None:
    """Gather equal blocks to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p = comm.Get_size()
    allgather_by(comm, sendbuf, recvbuf, shifted_steps(sparbit_shifts(p), comm.Get_rank(), p), tag)
