"""Reduce_scatter between groups by reduce, exchange and scatter: both groups do the same at the same time.

The algorithm is that of reduce_scatter_block by reduce, exchange and scatter, for blocks of different sizes; no rank
needs the other group's sizes.

    p = 4, q = 2, counts 2, 0, 1, 3 of A and 5, 1 of B     a_0 and b_0 exchange 6 elements; a_0 forwards 1 and 3, b_0 1

Rounds   1 + parts    Sent per rank   parts; on leaders + all blocks    Scratch   parts; on leaders + 2 K
Time     computed from the schedule; with binomial parts (1 + 2 ceil(log2 p)) t_s + (1 + ceil(log2 p) + (p-1)/p) K t_w
         for p = q and equal blocks of K bytes in total
Fits     any p and q; cases that its parts support; both groups' blocks of the same total size
Bits     depend on the operands only
Best     short blocks, especially if one group is much smaller: O(log p) start-ups; and ops that need rank order
Source   fakempi; with one direction after the other it is MPI-2's description, see reduce_then_scatter
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import checked_sizes
from collectives.inter_patterns.leaders_exchange import exchange_and_scatter, exchange_and_scatter_claims
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.intra.scatterv import binomial as scatterv_binomial
from collectives.patterns.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

REDUCE, SCATTERV = reduce_binomial.reduce_binomial, scatterv_binomial.scatterv_binomial
PARAMETERS = {"reduce": REDUCE, "scatterv": SCATTERV}


@algorithm(parameters=PARAMETERS, in_order=True, **exchange_and_scatter_claims(PARAMETERS))
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
    """Leave the rank's block of the other group's result in `recvbuf`."""
    p, _ = checked_sizes(inter, local)
    check_blocks(sendbuf, recvbuf, Layout.of_ranks(counts, p), local.Get_rank())
    exchange_and_scatter(inter, local, sendbuf, recvbuf, counts, op, reduce, scatterv, tag)
