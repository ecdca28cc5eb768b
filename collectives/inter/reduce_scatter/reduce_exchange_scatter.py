"""Reduce_scatter between groups by reduce, exchange and scatter: both groups do the same at the same time.

As reduce_scatter_block by reduce, exchange and scatter, with blocks of their own sizes, which nobody has to learn.

    p = 4, q = 2, counts 2, 0, 1, 3 of A and 5, 1 of B     a_0 and b_0 exchange 6 elements; a_0 sends on 1 and 3, b_0 1

Rounds   1 + its parts'    Sent per rank   its parts'; leaders all blocks more    Scratch   its parts'; leaders twice K more
Time     by the schedule's recurrence; binomial (1 + 2 ceil(log2 p)) t_s + (1 + ceil(log2 p) + (p-1)/p) K t_w for p = q and
         equal blocks, K in all
Fits     any p and q; what its parts fit; both groups' blocks as much in all
Best     short blocks, above all if one group is much smaller: log-many startups; and ops that want rank order
Source   ours; with the two ways in turn it is MPI-2's description, see reduce_then_scatter
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.groups import check_call
from collectives.between.leaders_exchange import exchange_and_scatter, exchange_and_scatter_claims
from collectives.catalogue.algorithm import Algorithm
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.intra.scatterv import binomial as scatterv_binomial
from collectives.shapes.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

REDUCE, SCATTERV = reduce_binomial.ALGORITHM, scatterv_binomial.ALGORITHM
PARAMETERS = {"reduce": REDUCE, "scatterv": SCATTERV}


def reduce_scatter_reduce_exchange_scatter(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    op: Op,
    reduce: Algorithm = REDUCE,
    scatterv: Algorithm = SCATTERV,
    tag: int = 0,
) -> None:
    """Leave in `recvbuf` the rank's block of the combination of the other group's operands."""
    p, _ = check_call(ALGORITHM, inter, local, {"reduce": reduce, "scatterv": scatterv}, op.Is_commutative())
    check_blocks(sendbuf, recvbuf, Layout.of_ranks(counts, p), local.Get_rank())
    exchange_and_scatter(inter, local, sendbuf, recvbuf, counts, op, reduce, scatterv, tag)


ALGORITHM = Algorithm(
    operation="reduce_scatter",
    name="reduce_exchange_scatter",
    kind="inter",
    run=reduce_scatter_reduce_exchange_scatter,
    parameters=PARAMETERS,
    in_order=True,
    **exchange_and_scatter_claims(PARAMETERS),
)
