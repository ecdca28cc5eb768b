"""Reduce_scatter_block between groups by one leader: up a chain of the larger group, and down to each of its ranks, at once.

The smaller group reduces to its rank 0 by `reduce`. Then the larger group's operands climb a chain of its ranks to this
leader in segments, while the leader sends pieces of each rank's block down to it, in rounds in which that rank receives
nothing else (`between.up_and_down`). At last the leader scatters what it received in its own group by `scatterv`. Of two
groups of one size, the caller says `first=False` in the one that is to have the leader, and `first=True` in the other. That
all operands have one length, as MPI demands, is not checked. Operands are combined in the order that `reduce` keeps to.

    p = 4, q = 1, one piece a block, four segments     round 0    1     2     3     4     5     6     7
    a_3 to a_2                                               0          1     2     3
    a_2 to a_1                                                    0           1     2     3
    a_1 to a_0                                                          0           1     2     3
    a_0 to b_0                                                                0           1     2     3
    b_0 to                                                   a_3  a_2   a_1   a_0

Rounds   as scheduled    Sent per rank   its parts'; the chain K, the leader K    Scratch   2 segments; the leader 2 K
Time     by the schedule's recurrence; with a smaller group of one rank about (1 + 1/q + 1/c) K t_w + (c (q+1) + q) t_s, with
         K all blocks, q the larger group and c = sqrt(K t_w / ((q+1) t_s))
Fits     any p and q; any op, in rank order; what its parts fit; startup_bytes > 0; groups of one size need `first`
Best     long blocks between one rank and three or more: the lower bound is K t_w, and an even cut takes 2 K
Source   ours
"""

from __future__ import annotations

from collectives.between.groups import check_call
from collectives.between.joined import STARTUP_BYTES
from collectives.between.one_leader import by_one_leader, one_leader_claims
from collectives.catalogue.algorithm import Algorithm
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.intra.scatterv import binomial as scatterv_binomial
from collectives.shapes.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

REDUCE, SCATTERV = reduce_binomial.ALGORITHM, scatterv_binomial.ALGORITHM
PARAMETERS = {"reduce": REDUCE, "scatterv": SCATTERV, "startup_bytes": STARTUP_BYTES, "first": None}


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
    """Leave in `recvbuf` the rank's block of the combination of the other group's operands."""
    parameters = {"reduce": reduce, "scatterv": scatterv, "startup_bytes": startup_bytes, "first": first}
    p, _ = check_call(ALGORITHM, inter, local, parameters, op.Is_commutative())
    check_blocks(sendbuf, recvbuf, Layout.equal(sendbuf.size, p), local.Get_rank())
    by_one_leader(inter, local, sendbuf, recvbuf, None, op, reduce, scatterv, startup_bytes, first, tag)


ALGORITHM = Algorithm(
    operation="reduce_scatter_block",
    name="one_leader",
    kind="inter",
    run=reduce_scatter_block_one_leader,
    parameters=PARAMETERS,
    in_order=True,
    **one_leader_claims(PARAMETERS, asks=False),
)
