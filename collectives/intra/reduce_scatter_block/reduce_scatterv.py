"""Reduce_scatter_block by reduce and scatterv: rank 0 gets the whole combination and deals out the blocks.

The algorithm `reduce` leaves the combination of all blocks on rank 0, which sends each rank its own by the algorithm
`scatterv`. Operands are combined in the order that `reduce` keeps to.

    p = 4     start    reduced    scattered       (both binomial: two rounds each; how many operands are in each block)
    rank 0    1111     4444       4...
    rank 1    1111     1111       .4..
    rank 2    1111     1111       ..4.
    rank 3    1111     1111       ...4

Rounds   those of both    Sent per rank   what both send    Scratch   what both use; a whole operand more on rank 0
Time     the sum of both; both binomial: 2 ceil(log2 p) t_s + (p ceil(log2 p) + p-1) m t_w + p ceil(log2 p) m c
Fits     what both parts fit; blocks of equal size
Best     ops that are not commutative, and as a yardstick
Source   folklore; Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, use it
         between groups
"""

from __future__ import annotations

from collectives.algorithm import Algorithm, Case
from collectives.composite import Part, add_combined, add_rounds, add_scratch, add_times, chain_schedules, first_misfit
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.intra.scatterv import binomial as scatterv_binomial
from collectives.protocol import Buffer, Comm, Op
from collectives.reductions import equal_blocks
from collectives.scattered import parts_by_rank_0, reduce_then_scatterv, whole_at_rank_0
from collectives.schedule import Schedule, Seconds

REDUCE, SCATTERV = reduce_binomial.ALGORITHM, scatterv_binomial.ALGORITHM


def reduce_scatter_block_reduce_scatterv(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce: Algorithm = REDUCE,
    scatterv: Algorithm = SCATTERV,
    tag: int = 0,
) -> None:
    """Leave the rank's block of the combination at the start of `recvbuf`; `sendbuf` None: the operand is there."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p, commutative=op.Is_commutative(), parameters={"reduce": reduce, "scatterv": scatterv}))
    layout = equal_blocks(sendbuf, recvbuf, p, rank)
    reduce_then_scatterv(comm, sendbuf, recvbuf, layout, op, reduce, scatterv, tag)


def fits(case: Case) -> str | None:
    return first_misfit(_parts(case))


def schedule(case: Case) -> Schedule | None:
    return chain_schedules(_parts(case))


def scratch(case: Case, rank: int) -> int:
    return add_scratch(_parts(case), rank) + whole_at_rank_0(case, rank)


def closed_rounds(case: Case) -> int | None:
    return add_rounds(_parts(case))


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    return add_times(_parts(case), t_s, t_w)


def closed_combined(case: Case) -> int | None:
    return add_combined(_parts(case))


def _parts(case: Case) -> list[Part]:
    return parts_by_rank_0(case, ALGORITHM.parameter(case, "reduce"), ALGORITHM.parameter(case, "scatterv"))


ALGORITHM = Algorithm(
    operation="reduce_scatter_block",
    name="reduce_scatterv",
    run=reduce_scatter_block_reduce_scatterv,
    schedule=schedule,
    scratch=scratch,
    fits=fits,
    closed_rounds=closed_rounds,
    closed_time=closed_time,
    closed_combined=closed_combined,
    parameters={"reduce": REDUCE, "scatterv": SCATTERV},
    in_order=True,
)
