"""Allreduce by Swing: a reduce-scatter on a torus between pairs at negabinary distances, then an allgather by these pairs.

The message is cut into p nearly equal pieces. `dims` are the extents of the torus; without `dims` all ranks are on one ring.
In the first rounds a rank exchanges data with a neighbor in each dimension, and then with ranks at the distances J_s = 1,
-1, 3, -5, ...: upward if its coordinate is even, downward if it is odd. Each of the two sends the pieces that the other
keeps, and combines the received pieces with those that it keeps. Then the same pairs exchange the results, in the reverse
order of rounds (`plans.swing`, `plans.block_plans`).

    p = 4     start    1st      2nd        3rd      4th         (pieces to combine, then pieces of the result)
    rank 0    0123     0..3     0...       0..3     0123
    rank 1    0123     .12.     .1..       .12.     0123
    rank 2    0123     .12.     ..2.       .12.     0123
    rank 3    0123     0..3     ...3       0..3     0123

Rounds   2 ceil(log2 p); 2 ceil(log2 (p-1)) + 4 if p > 1 is odd
         Sent per rank   about 2 m bytes    Scratch   about 2 m bytes
Time     2 q t_s + (p-1)/p m (2 t_w + c); q = ceil(log2 p), or on a torus the sum of ceil(log2 extent). On one ring
         of odd length the time is about twice that. If p is odd or does not divide the message, it is computed from
         the schedule
Fits     any p; the extents in dims are even and their product is p; commutative ops
Bits     equal on all ranks; depend on p, position
Best     long messages on a torus: few rounds, messages take few hops, and the longest ones take one
Source   De Sensi, Bonato, Saam, Hoefler, Swing: Short-cutting Rings for Higher Bandwidth Allreduce, NSDI 2024,
         arXiv:2401.09356 (derived from the abstract and the definition of the peers; one of the paper's concurrent
         collectives, since a process has one port here; the rule for odd p is fakempi's)
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import commutative_only
from collectives.catalogue.declaration import algorithm
from collectives.patterns.plans.block_plans import BlockExchanges
from collectives.patterns.plans.plan_claims import allreduce_by, allreduce_claims
from collectives.patterns.plans.swing import Dims, even_or_torus, swing_steps, valid_dims_only
from collectives.tools.protocol import Buffer, Comm, Op


def steps_of(case: Case, rank: int) -> BlockExchanges:
    return swing_steps(case.p, case.parameters.get("dims", ()), rank)


def why_unsupported(case: Case) -> str | None:
    return commutative_only(case) or valid_dims_only(case)


@algorithm(**allreduce_claims(steps_of, even_or_torus) | Claims(why_unsupported=why_unsupported))
def allreduce_swing(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, dims: Dims = (), tag: int = 0) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    p = comm.Get_size()
    allreduce_by(comm, sendbuf, recvbuf, swing_steps(p, dims, comm.Get_rank()), op, tag)
