"""Reduce_scatter_block between groups, linear: every rank sends its operand to the other group's leader.

The leaders, rank 0 of each group, exchange their operands. Then each receives the operands of ranks 1, 2, ... of the other
group, one after the other, and combines them in rank order. Each leader scatters the result in its group by `scatter`. The
code does not check that all operands have the same length, as MPI requires.

    p = 4, q = 2      start    exchanged    rank 1    rank 2    rank 3    scattered    (operands in each block; A's are 4)
    a_0               1111     1111         2222      2222      2222      2...
    a_1 a_2 a_3       1111                                                .2.. and so on
    b_0               1111     1111         2222      3333      4444      44..
    b_1               1111                                                ..44

Rounds   max(p, q) + scatter    Sent per rank   all blocks + scatter    Scratch   scatter; on leaders + 2 K
Time     n (t_s + K t_w) + (n-1) K c + scatter; n = max(p, q); all blocks together have K bytes; an upper bound: the
         exact time is computed from the schedule
Fits     any p and q; cases that `scatter` supports; both groups' blocks of the same total size
Bits     depend on the operands only
Best     as a baseline: a leader receives all operands of the other group
Source   Open MPI, ompi/mca/coll/basic/coll_basic_reduce_scatter_block.c: reduce_scatter_block_inter
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.inter_patterns.groups import GroupPart, checked_sizes, process_numbers
from collectives.inter_patterns.leader_reduce import reduce_at_leaders, reduce_at_leaders_claims
from collectives.intra.scatter import binomial
from collectives.patterns.reductions import check_blocks
from collectives.tools.blocks import Layout
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op

SCATTER = binomial.scatter_binomial


def _scatters(case: Case) -> list[GroupPart]:
    scatter = reduce_scatter_block_linear.parameter(case, "scatter")
    return [
        (scatter, Case(group.p, group.m, itemsize=group.itemsize), ranks)
        for group, ranks in zip(case.groups, process_numbers(case), strict=True)
    ]


@algorithm(in_order=True, **reduce_at_leaders_claims(_scatters))
def reduce_scatter_block_linear(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer,
    recvbuf: Buffer,
    *,
    op: Op,
    scatter: Algorithm = SCATTER,
    tag: int = 0,
) -> None:
    """Leave the rank's block of the other group's result in `recvbuf`."""
    p, _ = checked_sizes(inter, local)
    check_blocks(sendbuf, recvbuf, Layout.equal(sendbuf.size, p), local.Get_rank())
    result = reduce_at_leaders(inter, sendbuf, op, tag)
    scatter.run(local, result, recvbuf, root=0, tag=tag)
