"""Allgather by recursive multiplying: groups of k ranks exchange their blocks, then groups of groups, and so on.

The algorithm is recursive doubling with k-1 partners in each phase: ranks whose index differs only in one digit in base
k exchange all blocks that they have. If p is not j k^d with j < k, some ranks are folded, so that such a number
remains: a folded rank first sends its block to a neighbor, and receives all other blocks at the end
(`plans.multiplying`).

    p = 4, k = 4    start      1st        2nd        3rd
    rank 0          0...       0..3       0.23       0123
    rank 1          .1..       01..       01.3       0123
    rank 2          ..2.       .12.       012.       0123
    rank 3          ...3       ..23       .123       0123

Rounds   (k-1) log_k p for powers of k    Sent per rank   (p-1) m bytes    Scratch   none; folded ranks p blocks
Time     R t_s + (p-1) m t_w; R is the sum of j-1 over the phases of j ranks; if ranks are folded, the time is computed
         from the schedule
Fits     any p; k >= 2; blocks of equal size
Best     short blocks where a rank can send several messages at once; with one port, k = 2 has the fewest rounds
Source   Wilkins et al., Generalized Collective Algorithms for the Exascale Era, IEEE CLUSTER 2023,
         doi:10.1109/CLUSTER52292.2023.00013 (derived from the summary in github.com/pmodels/mpich/pull/7177, which
         links to it; the rule for p that are not a power of k is fakempi's)
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.declaration import algorithm
from collectives.patterns.plans.block_plans import BlockExchanges
from collectives.patterns.plans.multiplying import RADIX, folded, multiplying_steps, radix_of, radix_too_small
from collectives.patterns.plans.plan_claims import allgather_by, allgather_claims
from collectives.tools.protocol import Buffer, Comm


def steps_of(case: Case, rank: int) -> BlockExchanges:
    return multiplying_steps(case.p, radix_of(case), rank)


def symmetric(case: Case) -> bool:
    return folded(case.p, radix_of(case)).excess == 0


@algorithm(**allgather_claims(steps_of, symmetric) | Claims(why_unsupported=radix_too_small))
def allgather_recursive_multiplying(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, k: int = RADIX, tag: int = 0
) -> None:
    """Gather equal blocks to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p = comm.Get_size()
    allgather_by(comm, sendbuf, recvbuf, multiplying_steps(p, k, comm.Get_rank()), tag)
