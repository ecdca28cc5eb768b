"""Reduce_scatter by reduce and scatterv: rank 0 gets the whole combination and deals out the blocks.

As reduce_scatter_block by reduce and scatterv, with blocks of their own sizes.

    p = 4, counts 2, 0, 1, 3     both binomial: 002333 on rank 0, which sends 2333 to rank 2, which sends 333 to rank 3

Rounds   those of both    Sent per rank   what both send    Scratch   what both use; a whole operand more on rank 0
Time     the sum of both
Fits     what both parts fit
Best     ops that are not commutative, and as a yardstick
Source   folklore; Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, use it
         between groups
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.intra.scatterv import binomial as scatterv_binomial
from collectives.shapes.reductions import counted_blocks
from collectives.shapes.scattered import claims_by_rank_0, reduce_then_scatterv
from collectives.tools.protocol import Buffer, Comm, Op

REDUCE, SCATTERV = reduce_binomial.ALGORITHM, scatterv_binomial.ALGORITHM


def reduce_scatter_reduce_scatterv(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    op: Op,
    reduce: Algorithm = REDUCE,
    scatterv: Algorithm = SCATTERV,
    tag: int = 0,
) -> None:
    """Leave the rank's block of the combination at the start of `recvbuf`; `sendbuf` None: the operand is there."""
    p, rank = comm.Get_size(), comm.Get_rank()
    ALGORITHM.check(Case(p, commutative=op.Is_commutative(), parameters={"reduce": reduce, "scatterv": scatterv}))
    reduce_then_scatterv(
        comm, sendbuf, recvbuf, counted_blocks(counts, sendbuf, recvbuf, p, rank), op, reduce, scatterv, tag
    )


ALGORITHM = Algorithm(
    operation="reduce_scatter",
    name="reduce_scatterv",
    run=reduce_scatter_reduce_scatterv,
    parameters={"reduce": REDUCE, "scatterv": SCATTERV},
    in_order=True,
    **claims_by_rank_0(REDUCE, SCATTERV),
)
