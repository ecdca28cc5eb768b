"""Reduce_scatter between groups by one leader: up a chain of the larger group, and down to each of its ranks, at once.

As reduce_scatter_block by one leader, with blocks of their own sizes: rank 0 of the larger group first tells the leader the
sizes of its group's blocks, 8 bytes a rank.

    p = 4, q = 1, counts 2, 0, 1, 3 of A     a_0 tells b_0 these; then all goes as with equal blocks, and a_1 is sent nothing

Rounds   as scheduled    Sent per rank   its parts'; the chain K, the leader K    Scratch   2 segments; the leader 2 K
Time     by the schedule's recurrence; as reduce_scatter_block's, and t_s + 8 q t_w, if no block is longer than others
Fits     any p and q; any op, in rank order; what its parts fit; startup_bytes > 0; groups of one size need `first`
Best     long blocks between one rank and three or more: the lower bound is K t_w, and an even cut takes 2 K
Source   ours
"""

from __future__ import annotations

from collections.abc import Sequence

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


def reduce_scatter_one_leader(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
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
    check_blocks(sendbuf, recvbuf, Layout.of_ranks(counts, p), local.Get_rank())
    by_one_leader(inter, local, sendbuf, recvbuf, counts, op, reduce, scatterv, startup_bytes, first, tag)


ALGORITHM = Algorithm(
    operation="reduce_scatter",
    name="one_leader",
    kind="inter",
    run=reduce_scatter_one_leader,
    parameters=PARAMETERS,
    in_order=True,
    **one_leader_claims(PARAMETERS, asks=True),
)
