"""Reduce between groups as in WMPI: the leaves reduce to their leader, which sends the result to the root.

The leaf group reduces to its rank 0, its leader, by `reduce`. The leader sends the result to the root in the other
group. The other ranks of the root's group pass PROC_NULL and return immediately. Operands are combined in the order
that `reduce` uses.

    p = 4, q = 4: leaves b_0 .. b_3, root a_1 (a_0, a_2, a_3 idle)
    a_1       ....      ....      ....      0123
    b_0       0         01        0123      0123
    b_1       1         .         .         .
    b_2       2         23        .         .
    b_3       3         .         .         .

Rounds   1 + reduce    Sent per rank   reduce; on the leader + m    Scratch   reduce; on the leader + m
Time     reduce + t_s + m t_w; if binomial, (1 + ceil(log2 q)) (t_s + m t_w) + ceil(log2 q) m c with q leaves
Fits     any p and q; cases that `reduce` supports
Bits     depend on the operands only
Best     short messages; one hop more than the reduce of one group
Source   Silva, Silva, Implementing MPI-2 Extended Collective Operations, EuroPVM/MPI 1999, section 2
"""

from __future__ import annotations

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Transfer
from collectives.inter_patterns.groups import GroupPart, RootRole, process_numbers
from collectives.inter_patterns.rooted import check_root
from collectives.inter_patterns.rooted_claims import one_hop_claims
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.tools.blocks import required, spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm, Intercomm, Op


def _part(case: Case) -> GroupPart:
    leaves = Case(case.q, case.m_b, itemsize=case.itemsize, commutative=case.commutative)
    return reduce_wmpi.parameter(case, "reduce"), leaves, process_numbers(case)[1]


def _hop(case: Case) -> Transfer:
    return Transfer(case.p, case.root, case.m_b)


@algorithm(in_order=True, **one_hop_claims(_part, _hop, hop_first=False))
def reduce_wmpi(
    inter: Intercomm,
    local: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    *,
    op: Op,
    root: RootRole | int,
    reduce: Algorithm = reduce_binomial,
    tag: int = 0,
) -> None:
    """Leave the result of the other group's operands in the root's `recvbuf`."""
    check_root(inter, local, root)
    if root is RootRole.PROC_NULL:
        return
    if isinstance(root, RootRole):
        receive(inter, required(recvbuf, "the root of a reduce"), 0, tag)
        return
    own = required(sendbuf, "a rank that contributes an operand")
    result = spare_memory(own, own.size) if local.Get_rank() == 0 else None
    reduce.run(local, own, result, op=op, root=0, tag=tag)
    if result is not None:
        send(inter, result, root, tag)
