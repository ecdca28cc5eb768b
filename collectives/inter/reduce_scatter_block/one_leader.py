"""Reduce_scatter_block between groups by one leader: it receives along a chain of the larger group while it sends blocks.

The smaller group reduces to its rank 0 by `reduce`. Then the larger group's operands move up a chain of its ranks to
this leader in segments, while the leader sends pieces of each rank's block to that rank, in rounds in which it receives
nothing else (`inter_patterns.chain_and_star`). At the end the leader scatters the received result in its own group by
`scatterv`. If the groups have equal size, the caller passes `first=False` in the group that has the leader, and
`first=True` in the other. The code does not check that all operands have the same length, as MPI requires. Operands are
combined in the order that `reduce` uses.

    p = 4, q = 1, one piece per block, 4 segments      round 0    1     2     3     4     5     6     7
    a_3 to a_2                                               0          1     2     3
    a_2 to a_1                                                    0           1     2     3
    a_1 to a_0                                                          0           1     2     3
    a_0 to b_0                                                                0           1     2     3
    b_0 to                                                   a_3  a_2   a_1   a_0

Rounds   given by the schedule    Sent per rank   parts; + K on the leader and on ranks of the chain
         Scratch   2 segments; on the leader + 2 K
Time     computed from the schedule; if the smaller group has one rank about (1 + 1/q + 1/c) K t_w + (c (q+1) + q) t_s,
         where all blocks together have K bytes, the larger group has q ranks and c = sqrt(K t_w / ((q+1) t_s))
Fits     any p and q; any op, in rank order; cases that its parts support; startup_bytes > 0; equal groups need `first`
Bits     depend on p
Best     long blocks between one rank and three or more: the lower bound is K t_w; an even cut takes 2 K t_w
Source   fakempi
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import checked_sizes
from collectives.inter_patterns.joined import STARTUP_BYTES
from collectives.inter_patterns.one_leader import by_one_leader, one_leader_claims
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.intra.scatterv import binomial as scatterv_binomial
from collectives.patterns.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

REDUCE, SCATTERV = reduce_binomial.reduce_binomial, scatterv_binomial.scatterv_binomial
PARAMETERS = {"reduce": REDUCE, "scatterv": SCATTERV, "startup_bytes": STARTUP_BYTES, "first": None}


@algorithm(parameters=PARAMETERS, in_order=True, **one_leader_claims(PARAMETERS, sends_sizes=False))
def reduce_scatter_block_one_leader(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce: Algorithm = REDUCE,
    scatterv: Algorithm = SCATTERV,
    startup_bytes: int = STARTUP_BYTES,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`."""
    p, _ = checked_sizes(inter, local)
    check_blocks(sendbuf, recvbuf, Layout.equal(sendbuf.size, p), local.Get_rank())
    by_one_leader(inter, local, sendbuf, recvbuf, None, op, reduce, scatterv, startup_bytes, first, tag)
