"""Reduce_scatter_block between groups by reduce, exchange and scatter: both groups do the same at the same time.

Each group reduces to its rank 0, its leader, by `reduce`; the leaders exchange what they have, both ways at once; each
scatters what it received in its group by `scatterv`. That all operands have one length, as MPI demands, is not checked.
Operands are combined in the order that `reduce` keeps to.

    p = 4, q = 2      start    reduced    exchanged    scattered       (operands in each block; A's blocks are 4)
    a_0               1111     4444       2222         2...
    a_1 a_2 a_3       1111                             .2.. and so on
    b_0               1111     2222       4444         44..
    b_1               1111                             ..44

Rounds   1 + its parts'    Sent per rank   its parts'; leaders all blocks more    Scratch   its parts'; leaders twice K more
Time     by the schedule's recurrence; binomial (1 + 2 ceil(log2 p)) t_s + (1 + ceil(log2 p) + (p-1)/p) K t_w for p = q and
         equal blocks, K in all
Fits     any p and q; what its parts fit; both groups' blocks as much in all
Best     short blocks, above all if one group is much smaller: log-many startups; and ops that want rank order
Source   ours; with the two ways in turn it is MPI-2's description, see reduce_then_scatter
"""

from __future__ import annotations

from collectives.between.full_duplex import nearly_equal_sizes
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


def reduce_scatter_block_reduce_exchange_scatter(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce: Algorithm = REDUCE,
    scatterv: Algorithm = SCATTERV,
    tag: int = 0,
) -> None:
    """Leave in `recvbuf` the rank's block of the combination of the other group's operands."""
    p, _ = check_call(ALGORITHM, inter, local, {"reduce": reduce, "scatterv": scatterv}, op.Is_commutative())
    check_blocks(sendbuf, recvbuf, Layout.equal(sendbuf.size, p), local.Get_rank())
    counts = nearly_equal_sizes(sendbuf.size, p)
    exchange_and_scatter(inter, local, sendbuf, recvbuf, counts, op, reduce, scatterv, tag)


ALGORITHM = Algorithm(
    operation="reduce_scatter_block",
    name="reduce_exchange_scatter",
    kind="inter",
    run=reduce_scatter_block_reduce_exchange_scatter,
    parameters=PARAMETERS,
    in_order=True,
    **exchange_and_scatter_claims(PARAMETERS),
)
