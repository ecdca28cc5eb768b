"""Reduce_scatter between groups as in WMPI: a reduce in each group, then each leader deals out to the other group.

The leaders, rank 0 of each group, exchange the block sizes of their groups, 8 bytes a rank. Each group reduces to its
leader by `reduce`, both at once; then each leader sends the ranks of the other group their blocks, again both at once,
and who is ready first is served first. That is one hop less than a reduce between groups and a scatter within. Beyond
the paper, which trusts its callers: after the reduce a leader tells its group by `bcast` how much the other group's
blocks are in all (8 bytes); where that is not what its own are, everybody raises ValueError. Operands are combined in
the order that `reduce` keeps to.

    p = 4, q = 2      start    reduced    dealt out       (how many operands are in each block; A's blocks are 4, B's 2)
    a_0               1111     4444       2...
    a_1 a_2 a_3       1111     1111       .2.. and so on
    b_0               1111     2222       44..
    b_1               1111     1111       ..44

Rounds   1 + q + its parts'    Sent per rank   its parts', leaders all blocks    Scratch   leaders all blocks; and its parts'
Time     parts' + (q+1) t_s + (8 p + q m) t_w; for p = q, equal blocks and binomial parts; otherwise by the schedule's
         recurrence, exact
Fits     any p and q; what its parts fit; both groups' blocks as much in all
Best     short operands, and ops that want rank order
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.groups import check_call
from collectives.between.reduced_across import dealing_claims, reduce_and_deal
from collectives.catalogue.algorithm import Algorithm
from collectives.intra.bcast import binomial as bcast_binomial
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.shapes.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

REDUCE, BCAST = reduce_binomial.ALGORITHM, bcast_binomial.ALGORITHM
PARAMETERS = {"reduce": REDUCE, "bcast": BCAST}


def reduce_scatter_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    op: Op,
    reduce: Algorithm = REDUCE,
    bcast: Algorithm = BCAST,
    tag: int = 0,
) -> None:
    """Leave in `recvbuf` the rank's block of the combination of the other group's operands."""
    p, q = check_call(ALGORITHM, inter, local, {"reduce": reduce, "bcast": bcast}, op.Is_commutative())
    layout = Layout.of_ranks(counts, p)
    check_blocks(sendbuf, recvbuf, layout, local.Get_rank())
    sizes = [layout.size(rank) for rank in range(p)]
    reduce_and_deal(inter, local, sendbuf, recvbuf, sizes, q, op, reduce, bcast, tag)


ALGORITHM = Algorithm(
    operation="reduce_scatter",
    name="wmpi",
    kind="inter",
    run=reduce_scatter_wmpi,
    parameters=PARAMETERS,
    in_order=True,
    **dealing_claims("reduce_scatter", PARAMETERS),
)
