"""Reduce_scatter_block between groups by a reduce in each direction, then a scatter, as the MPI-2 standard describes it.

The algorithm is that of reduce_scatter by a reduce in each direction, with blocks of equal size, which `scatter`
distributes: the first group reduces to its rank 0, its leader, by `reduce`, and the leader sends the result to the
other leader; then the other group does the same; then each leader scatters the received result in its own group.

    p = 4, q = 2      A reduced    a_0 to b_0    B reduced    b_0 to a_0    scattered      (operands in each block)
    a_0               4444                                    2222          2...
    a_1 a_2 a_3                                                             .2.. and so on
    b_0                            4444          2222                       44..
    b_1                                                                     ..44

Rounds   2 + parts    Sent per rank   parts; on leaders + all blocks    Scratch   parts; on leaders + 2 K
Time     2 (t_s + K t_w) + parts; all blocks together have K bytes; the exact time is computed from the schedule
Fits     any p and q; cases that its parts support; both groups' blocks of the same total size; equal groups need
         `first`
Bits     depend on the operands only
Best     never; for comparison: reduce_exchange_scatter does the same in both directions at once
Source   MPICH, src/mpi/coll/reduce_scatter_block/reduce_scatter_block_inter_remote_reduce_local_scatter.c
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import GroupPart, process_numbers
from collectives.inter_patterns.reduce_in_turn import reduce_in_turn, reduce_in_turn_claims
from collectives.inter_patterns.root_gathering import resolve_first
from collectives.intra.reduce import binomial as reduce_binomial
from collectives.intra.scatter import binomial as scatter_binomial
from collectives.patterns.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.local import check_local
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

REDUCE, SCATTER = reduce_binomial.reduce_binomial, scatter_binomial.scatter_binomial


def _scatters(case: Case) -> list[GroupPart]:
    scatter, sizes = reduce_scatter_block_reduce_then_scatter.parameter(case, "scatter"), (case.m, case.m_b)
    return [
        (scatter, Case(len(ranks), m, itemsize=case.itemsize), ranks)
        for ranks, m in zip(process_numbers(case), sizes, strict=True)
    ]


@algorithm(
    checks_itself=True,
    in_order=True,
    **reduce_in_turn_claims(lambda case: case.parameters.get("reduce", REDUCE), _scatters),
)
def reduce_scatter_block_reduce_then_scatter(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    op: Op,
    reduce: Algorithm = REDUCE,
    scatter: Algorithm = SCATTER,
    first: bool | None = None,
    tag: int = 0,
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`."""
    check_local(inter, local)
    p, q = inter.Get_size(), inter.Get_remote_size()
    goes_first = resolve_first(reduce_scatter_block_reduce_then_scatter, (p, sendbuf.size), (q, sendbuf.size), first)
    parameters = {"reduce": reduce, "scatter": scatter, "first": goes_first}
    reduce_scatter_block_reduce_then_scatter.check(Case(p, q=q, commutative=op.Is_commutative(), parameters=parameters))
    check_blocks(sendbuf, recvbuf, Layout.equal(sendbuf.size, p), inter.Get_rank())
    theirs = reduce_in_turn(inter, local, sendbuf, op, reduce, goes_first, tag)
    scatter.run(local, theirs, recvbuf, root=0, tag=tag)
