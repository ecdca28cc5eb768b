"""Reduce_scatter between groups, linear: every rank sends its operand to the other group's leader.

The algorithm is that of reduce_scatter_block linear: the leaders combine the operands, and scatter blocks of different
sizes by `scatterv`.

    p = 4, q = 2, counts 2, 0, 1, 3 of A and 5, 1 of B     a_0 receives 6 elements of b_0 and b_1, and scatters 2, 0, 1, 3

Rounds   max(p, q) + scatterv    Sent per rank   all blocks + scatterv    Scratch   scatterv; on leaders + 2 K
Time     n (t_s + K t_w) + (n-1) K c + scatterv; n = max(p, q); all blocks together have K bytes; an upper bound: the
         exact time is computed from the schedule
Fits     any p and q; cases that `scatterv` supports; both groups' blocks of the same total size
Bits     depend on the operands only
Best     as a baseline: a leader receives all operands of the other group
Source   Open MPI, ompi/mca/coll/basic/coll_basic_reduce_scatter.c: reduce_scatter_inter
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import checked_sizes
from collectives.inter_patterns.leader_reduce import reduce_at_leaders, reduce_at_leaders_claims
from collectives.inter_patterns.leaders_exchange import blocks_of
from collectives.intra.scatterv import binomial
from collectives.patterns.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

SCATTERV = binomial.scatterv_binomial


@algorithm(
    in_order=True,
    **reduce_at_leaders_claims(lambda case: blocks_of(case, case.parameters.get("scatterv", SCATTERV))),
)
def reduce_scatter_linear(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    op: Op,
    scatterv: Algorithm = SCATTERV,
    tag: int = 0,
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`."""
    p, _ = checked_sizes(inter, local)
    check_blocks(sendbuf, recvbuf, Layout.of_ranks(counts, p), local.Get_rank())
    result = reduce_at_leaders(inter, sendbuf, op, tag)
    scatterv.run(local, result, recvbuf, counts, root=0, tag=tag)
