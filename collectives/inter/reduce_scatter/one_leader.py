"""Reduce_scatter between groups by one leader: it receives along a chain of the larger group while it sends blocks.

The algorithm is that of reduce_scatter_block by one leader, for blocks of different sizes: rank 0 of the larger group
first sends the leader the sizes of its group's blocks, 8 bytes per rank.

    p = 4, q = 1, counts 2, 0, 1, 3 of A     a_0 sends these to b_0; then as with equal blocks, and a_1 receives none

Rounds   given by the schedule    Sent per rank   parts; + K on the leader and on ranks of the chain
         Scratch   2 segments; on the leader + 2 K
Time     computed from the schedule; t_s + 8 q t_w more than reduce_scatter_block if all blocks have equal size
Fits     any p and q; any op, in rank order; cases that its parts support; startup_bytes > 0; equal groups need `first`
Bits     depend on p
Best     long blocks between one rank and three or more: the lower bound is K t_w; an even cut takes 2 K t_w
Source   fakempi
"""

from __future__ import annotations

from collections.abc import Sequence

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


@algorithm(parameters=PARAMETERS, in_order=True, **one_leader_claims(PARAMETERS, sends_sizes=True))
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
    """Leave the rank's block of the other group's result in `recvbuf`."""
    p, _ = checked_sizes(inter, local)
    check_blocks(sendbuf, recvbuf, Layout.of_ranks(counts, p), local.Get_rank())
    by_one_leader(inter, local, sendbuf, recvbuf, counts, op, reduce, scatterv, startup_bytes, first, tag)
