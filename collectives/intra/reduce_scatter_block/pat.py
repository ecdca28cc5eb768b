"""Reduce_scatter_block by PAT (parallel aggregated trees): near ranks first, with memory for a few partial results.

The allgather by PAT in reverse: the operands of a block go up a binomial tree to its owner, the shortest edges first, with
at most `aggregation` blocks in a message. Subtrees are traversed depth first, so a rank keeps at most about
`aggregation` log2 p partial results at a time, for any size of the whole operand (`plans.block_plans`).

    p = 4     start    1st      2nd      3rd         (aggregation = 1: number of operands in each block)
    rank 0    1111     211.     2.2.     4...        for block 0: 1 -> 0, then 3 -> 2, then 2 -> 0
    rank 1    1111     .211     .2.2     .4..
    rank 2    1111     1.21     2.2.     ..4.
    rank 3    1111     11.2     .2.2     ...4

Rounds   ceil(log2 p) to p-1    Sent per rank   all blocks but its own    Scratch   messages, partial results
Time     R t_s + (p-1) m (t_w + c); with a = floor(log2 aggregation), R is ceil(log2 p) if 2^(a+1) >= p, otherwise about
         a + p/2^a - 1
Fits     any p; aggregation > 0; commutative ops; blocks of equal size
Bits     depend on p, position
Best     short and medium blocks at scale: few rounds with a bounded amount of memory
Source   Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, 2025, arXiv:2506.20252
         (derived from the abstract); in NCCL since 2.23
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.conditions import commutative_only
from collectives.catalogue.declaration import algorithm
from collectives.patterns.plans.block_plans import BlockExchanges
from collectives.patterns.plans.plan_claims import reduce_scatter_by, reduce_scatter_claims
from collectives.patterns.plans.shifted_plans import AGGREGATION, pat_shifts, positive_aggregation_only, shifted_steps
from collectives.tools.protocol import Buffer, Comm, Op


def steps_of(case: Case, rank: int) -> BlockExchanges:
    return shifted_steps(pat_shifts(case.p, case.parameters.get("aggregation", AGGREGATION)), rank, case.p)


def why_unsupported(case: Case) -> str | None:
    return commutative_only(case) or positive_aggregation_only(case)


@algorithm(**reduce_scatter_claims(steps_of) | Claims(why_unsupported=why_unsupported))
def reduce_scatter_block_pat(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, aggregation: int = AGGREGATION, tag: int = 0
) -> None:
    """Leave the rank's block of the result at the start of `recvbuf`; if `sendbuf` is None, `recvbuf` holds the operand."""
    p = comm.Get_size()
    reduce_scatter_by(comm, sendbuf, recvbuf, shifted_steps(pat_shifts(p, aggregation), comm.Get_rank(), p), op, tag)
