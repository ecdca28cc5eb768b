"""Reduce_scatter between groups by an even cut: each group reduces in pieces, which are sent directly to their owners.

The algorithm is that of reduce_scatter_block by an even cut, for blocks of different sizes. The leaders, rank 0 of each
group, first exchange all block sizes of their groups, 8 bytes per rank, and broadcast them in their groups by `bcast`.
If the total sizes of the groups' blocks differ, every rank raises ValueError.

    p = 4, q = 2, counts 2, 0, 1, 3 of A and 5, 1 of B     pieces 00, 11, 2 and 3 of A: b_0 gets 00, 11 and 2, b_1 gets 3

Rounds   no closed form    Sent per rank   pieces + parts    Scratch   own piece + parts; block sizes
Time     about K t_w + the largest block; all blocks together have K bytes; plus start-ups and 8 (p + q) bytes: the
         exact time is computed from the schedule. All sends are synchronous, so the time does not depend on buffering
Fits     any p and q; cases that its parts support; both groups' blocks of the same total size;
         receive_order "multi_target" or "rank"
Bits     depend on p, position
Best     long blocks: the lower bound is K t_w; twice that if one rank has all blocks of its group
Source   fakempi; the exchange: Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI
         Intergroup Allgather and Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2
"""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import checked_sizes
from collectives.inter_patterns.reduce_and_deliver import delivery_claims, learn_blocks, reduce_and_deliver
from collectives.inter_patterns.reduce_in_pieces import REDUCE_SCATTER
from collectives.intra.bcast import binomial
from collectives.patterns.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op
from collectives.tools.unbuffered import SynchronousComm, UnbufferedBetween

BCAST = binomial.bcast_binomial
PARAMETERS = {"reduce_scatter": REDUCE_SCATTER, "bcast": BCAST, "receive_order": "multi_target"}


@algorithm(parameters=PARAMETERS, **delivery_claims(PARAMETERS))
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
    """Leave the rank's block of the other group's result in `recvbuf`."""
    p, _ = checked_sizes(inter, local)
    own_blocks = Layout.of_ranks(counts, p)
    check_blocks(sendbuf, recvbuf, own_blocks, local.Get_rank())
    inter, local = UnbufferedBetween(inter), SynchronousComm(local)
    other_blocks = learn_blocks(inter, local, own_blocks, bcast, tag)
    reduce_and_deliver(inter, local, sendbuf, recvbuf, own_blocks, other_blocks, op, reduce_scatter, receive_order, tag)
