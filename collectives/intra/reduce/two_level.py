"""Reduce on two levels: every node reduces to one rank, and these ranks reduce to the root.

The leader of a node is its first rank; on the root's node it is the root (`nodes` is the number of ranks per node, or the
node of each rank). Every node runs the reduce `inner` to its leader, then the leaders run the reduce `outer`.

    p = 4, nodes of 2, root 0    start   on nodes   leaders 0, 2
    rank 0                       0       01         0123
    rank 1                       1       .          .
    rank 2                       2       23         .
    rank 3                       3       .          .

Rounds   sum of both parts    Sent per rank   sum of both parts    Scratch   sum of both parts; and m bytes on leaders
Time     sum of both parts; the exact time is computed from the schedule
Fits     any p; every rank has a node; commutative ops; cases that both parts support
Bits     depend on root, nodes
Best     nodes whose processes share a network port: a node sends one operand
Source   Luo, Wu, Bosilca, Pei, Cao, Patinyasakdikul, Zhong, Dongarra, HAN: a Hierarchical AutotuNed Collective
         Communication Framework, IEEE CLUSTER 2020, pages 23-34
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import all_of, commutative_only, valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.patterns.reductions import operand
from collectives.tools.blocks import spare_memory
from collectives.tools.nodes import Nodes, placement_of
from collectives.tools.protocol import Buffer, Comm, Op
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    outer, inner = reduce_two_level.parameter(case, "outer"), reduce_two_level.parameter(case, "inner")
    placement, m, size = placement_of(reduce_two_level.parameter(case, "nodes"), case.p), case.m, case.itemsize
    leaders, root_node = placement.leaders(case.root), placement.node[case.root]
    yield [
        GroupCase(
            ranks,
            inner,
            Case(len(ranks), m, root=placement.index[leaders[k]], itemsize=size, in_place=case.in_place and k == root_node),
        )
        for k, ranks in enumerate(placement.nodes)
    ]
    yield [GroupCase(leaders, outer, Case(len(leaders), m, root=root_node, itemsize=size, in_place=True))]


def own_scratch(case: Case, rank: int) -> int:
    leaders = placement_of(reduce_two_level.parameter(case, "nodes"), case.p).leaders(case.root)
    return case.m if rank in leaders and rank != case.root else 0


@algorithm(**phased_claims(phases, all_of(commutative_only, valid_nodes_only), own_scratch))
def reduce_two_level(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    *,
    op: Op,
    root: int = 0,
    nodes: Nodes = 1,
    outer: Algorithm = reduce_binomial,
    inner: Algorithm = reduce_binomial,
    tag: int = 0,
) -> None:
    """Leave the result in the root's `recvbuf`; if the root's `sendbuf` is None, `recvbuf` holds its operand."""
    rank = comm.Get_rank()
    own = operand(sendbuf, recvbuf, rank, root)
    placement, node, _, local = on_node(comm, nodes)
    leaders = placement.leaders(root)
    leader_index = placement.index[leaders[node]]
    if rank == root:
        inner.run(local, sendbuf, recvbuf, op=op, root=leader_index, tag=tag)
        outer.run(Subset(comm, leaders, node), None, recvbuf, op=op, root=node, tag=tag)
    elif rank == leaders[node]:
        held = spare_memory(own, own.size)
        inner.run(local, own, held, op=op, root=leader_index, tag=tag)
        outer.run(Subset(comm, leaders, node), held, None, op=op, root=placement.node[root], tag=tag)
    else:
        inner.run(local, own, None, op=op, root=leader_index, tag=tag)
