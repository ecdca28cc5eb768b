"""Reduce_scatter between groups by an even cut: each group reduces in pieces, which go straight to their owners.

As reduce_scatter_block by an even cut, with blocks of their own sizes. The leaders, rank 0 of each group, first exchange all
block sizes of their groups, 8 bytes a rank, and tell their groups by `bcast`; where the groups' blocks are not as much in
all, everybody raises ValueError.

    p = 4, q = 2, counts 2, 0, 1, 3 of A and 5, 1 of B     pieces 00, 11, 2 and 3 of A: b_0 gets 00, 11 and 2, b_1 gets 3

Rounds   no closed form    Sent per rank   pieces + its parts'    Scratch   own piece + its parts'; block sizes
Time     about K t_w and the largest block's; K is all blocks; beside startups and 8 (p + q) bytes: by the schedule's
         recurrence, exact whatever is buffered, since its sends wait for their receives
Fits     any p and q; what its parts fit; both groups' blocks as much in all; receive_order "multi_target" or "rank"
Best     long blocks: the lower bound is K t_w; twice that if one rank has all blocks of its group
Source   ours; the exchange: Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup
         Allgather and Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.between.delivered import delivery_claims, learn_blocks, reduce_and_deliver
from collectives.between.groups import check_call
from collectives.between.reduced_pieces import REDUCE_SCATTER
from collectives.catalogue.algorithm import Algorithm
from collectives.intra.bcast import binomial
from collectives.shapes.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op
from collectives.tools.unbuffered import Unbuffered, UnbufferedBetween

BCAST = binomial.ALGORITHM
PARAMETERS = {"reduce_scatter": REDUCE_SCATTER, "bcast": BCAST, "receive_order": "multi_target"}


def reduce_scatter_even_cut(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    counts: Sequence[int],
    *,
    op: Op,
    reduce_scatter: Algorithm = REDUCE_SCATTER,
    bcast: Algorithm = BCAST,
    receive_order: str = "multi_target",
    tag: int = 0,
) -> None:
    """Leave in `recvbuf` the rank's block of the combination of the other group's operands."""
    parameters = {"reduce_scatter": reduce_scatter, "bcast": bcast, "receive_order": receive_order}
    p, _ = check_call(ALGORITHM, inter, local, parameters, op.Is_commutative())
    mine = Layout.of_ranks(counts, p)
    check_blocks(sendbuf, recvbuf, mine, local.Get_rank())
    inter, local = UnbufferedBetween(inter), Unbuffered(local)
    theirs = learn_blocks(inter, local, mine, bcast, tag)
    reduce_and_deliver(inter, local, sendbuf, recvbuf, mine, theirs, op, reduce_scatter, receive_order, tag)


ALGORITHM = Algorithm(
    operation="reduce_scatter",
    name="even_cut",
    kind="inter",
    run=reduce_scatter_even_cut,
    parameters=PARAMETERS,
    **delivery_claims(PARAMETERS),
)
