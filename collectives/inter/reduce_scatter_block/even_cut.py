"""Reduce_scatter_block between groups by an even cut: each group reduces in pieces, which go straight to their owners.

Each group does a `reduce_scatter` of its operands in nearly equal pieces, one a rank, both groups at once. What a rank then
has it sends to those ranks of the other group whose blocks it is in, in the order of `between.even_cut`: both ways at once.
That all operands have one length, as MPI demands, is not checked.

    p = 4, q = 2      start    reduced    delivered       (how many operands are in each block; A's blocks are 4)
    a_0               1111     4...       2...
    a_1 a_2 a_3       1111     .4..       .2.. and so on
    b_0               1111     22..       44..
    b_1               1111     ..22       ..44

Rounds   no closed form    Sent per rank   pieces + its parts'    Scratch   own piece + its parts'
Time     about (1 + 1/min(p, q)) K t_w; K = p m, all blocks, with (p-1)/p and (q-1)/q; beside startups: by the schedule's
         recurrence, exact whatever is buffered, since its sends wait for their receives
Fits     any p and q; what `reduce_scatter` fits; both groups' blocks as much in all; receive_order "multi_target" or "rank"
Best     long blocks: the lower bound is K t_w; twice that if one group is a single rank and the other large
Source   ours; the exchange: Kang, Träff, Al-Bahrani, Agrawal, Choudhary, Liao, Scalable Algorithms for MPI Intergroup
         Allgather and Allgatherv, Parallel Computing 85 (2019), doi:10.1016/j.parco.2019.04.015, Algorithm 2
"""

from __future__ import annotations

from collectives.between.delivered import delivery_claims, reduce_and_deliver
from collectives.between.groups import check_call
from collectives.between.reduced_pieces import REDUCE_SCATTER
from collectives.catalogue.algorithm import Algorithm
from collectives.shapes.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op
from collectives.tools.unbuffered import Unbuffered, UnbufferedBetween

PARAMETERS = {"reduce_scatter": REDUCE_SCATTER, "receive_order": "multi_target"}


def reduce_scatter_block_even_cut(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce_scatter: Algorithm = REDUCE_SCATTER,
    receive_order: str = "multi_target",
    tag: int = 0,
) -> None:
    """Leave in `recvbuf` the rank's block of the combination of the other group's operands."""
    parameters = {"reduce_scatter": reduce_scatter, "receive_order": receive_order}
    p, q = check_call(ALGORITHM, inter, local, parameters, op.Is_commutative())
    mine, theirs = Layout.equal(sendbuf.size, p), Layout.equal(sendbuf.size, q)
    check_blocks(sendbuf, recvbuf, mine, local.Get_rank())
    inter, local = UnbufferedBetween(inter), Unbuffered(local)
    reduce_and_deliver(inter, local, sendbuf, recvbuf, mine, theirs, op, reduce_scatter, receive_order, tag)


ALGORITHM = Algorithm(
    operation="reduce_scatter_block",
    name="even_cut",
    kind="inter",
    run=reduce_scatter_block_even_cut,
    parameters=PARAMETERS,
    **delivery_claims(PARAMETERS),
)
