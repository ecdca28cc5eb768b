"""Allgather by Swing: the exchanges of Bine on a torus, in one dimension after the other.

`dims` are the extents of the torus. Without `dims` all ranks are on one ring. In each round a rank exchanges all
blocks that it has with the rank at distance J_s = (1 - (-2)^s) / 3 in one dimension: upward if its coordinate is even,
downward if it is odd. The longest distances come first, and the dimensions alternate (`plans.swing`).

    p = 4     start      1st        2nd         1st: 0 with 3, 1 with 2; 2nd: 0 with 1, 2 with 3
    rank 0    0...       0..3       0123
    rank 1    .1..       .12.       0123
    rank 2    ..2.       .12.       0123
    rank 3    ...3       0..3       0123

Rounds   ceil(log2 p); ceil(log2 (p-1)) + 2 if p > 1 is odd
         Sent per rank   (p-1) m bytes    Scratch   longest messages, packed
Time     ceil(log2 p) t_s + (p-1) m t_w; on one ring of odd length about twice that, computed from the schedule;
         a torus has the sum of ceil(log2 extent) rounds
Fits     any p; the extents in dims are even and their product is p; blocks of equal size
Best     on a torus: messages take few hops, and the longest ones take one
Source   De Sensi, Bonato, Saam, Hoefler, Swing: Short-cutting Rings for Higher Bandwidth Allreduce, NSDI 2024,
         arXiv:2401.09356 (derived from the abstract and the definition of the peers; one of the paper's concurrent
         collectives, since a process has one port here; the rule for odd p is fakempi's)
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.declaration import algorithm
from collectives.patterns.plans.block_plans import BlockExchanges
from collectives.patterns.plans.plan_claims import allgather_by, allgather_claims
from collectives.patterns.plans.swing import Dims, even_or_torus, swing_steps, valid_dims_only
from collectives.tools.protocol import Buffer, Comm


def steps_of(case: Case, rank: int) -> BlockExchanges:
    return swing_steps(case.p, case.parameters.get("dims", ()), rank)


def why_unsupported(case: Case) -> str | None:
    return valid_dims_only(case)


@algorithm(**allgather_claims(steps_of, even_or_torus) | Claims(why_unsupported=why_unsupported))
def allgather_swing(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, dims: Dims = (), tag: int = 0) -> None:
    """Gather equal blocks to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p = comm.Get_size()
    allgather_by(comm, sendbuf, recvbuf, swing_steps(p, dims, comm.Get_rank()), tag)
