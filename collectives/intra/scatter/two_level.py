"""Scatter on two levels: one rank of each node receives the blocks of the node and distributes them.

The leader of a node is its first rank; on the root's node it is the root (`nodes` is the number of ranks per node, or the
node of each rank). The leaders run the scatterv `outer`, then every node runs the scatter `inner`. If nodes do not have
consecutive ranks, the root first copies the blocks to scratch memory in the order of nodes.

    p = 4, nodes of 2, root 0    start    leaders 0, 2    on nodes
    rank 0                       0123     0123            0123
    rank 1                       ....     ....            .1..
    rank 2                       ....     ..23            ..23
    rank 3                       ....     ....            ...3

Rounds   sum of both parts    Sent per rank   sum of both parts    Scratch   sum of both parts; and n m bytes
         on the leader of a node with n ranks
Time     sum of both parts; the exact time is computed from the schedule
Fits     any p; every rank has a node; blocks of equal size; cases that both parts support
Best     short blocks on nodes whose processes share a network port: a node receives one message
Source   Luo, Wu, Bosilca, Pei, Cao, Patinyasakdikul, Zhong, Dongarra, HAN: a Hierarchical AutotuNed Collective
         Communication Framework, IEEE CLUSTER 2020, pages 23-34
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.scatter.binomial import scatter_binomial
from collectives.intra.scatterv.binomial import scatterv_binomial
from collectives.tools.blocks import Layout, required, spare_memory
from collectives.tools.nodes import Nodes, placement_of
from collectives.tools.protocol import Buffer, Comm
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    outer, inner = scatter_two_level.parameter(case, "outer"), scatter_two_level.parameter(case, "inner")
    placement, size = placement_of(scatter_two_level.parameter(case, "nodes"), case.p), case.itemsize
    leaders, root_node = placement.leaders(case.root), placement.node[case.root]
    counts = tuple(len(ranks) * case.elements for ranks in placement.nodes)
    yield [GroupCase(leaders, outer, Case(len(counts), counts=counts, root=root_node, itemsize=size, in_place=True))]
    roots = [placement.index[leader] for leader in leaders]
    in_place = [case.in_place and node == root_node for node in range(len(leaders))]
    yield [
        GroupCase(ranks, inner, Case(len(ranks), case.m, root=roots[node], itemsize=size, in_place=in_place[node]))
        for node, ranks in enumerate(placement.nodes)
    ]


def own_scratch(case: Case, rank: int) -> int:
    placement = placement_of(scatter_two_level.parameter(case, "nodes"), case.p)
    if rank == case.root:
        return 0 if placement.in_rank_order else case.p * case.m
    return len(placement.nodes[placement.node[rank]]) * case.m if rank in placement.leaders(case.root) else 0


@algorithm(**phased_claims(phases, valid_nodes_only, own_scratch))
def scatter_two_level(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    *,
    root: int = 0,
    nodes: Nodes = 1,
    outer: Algorithm = scatterv_binomial,
    inner: Algorithm = scatter_binomial,
    tag: int = 0,
) -> None:
    """Copy the rank's block of the root's `sendbuf` to `recvbuf`; if the root's is None, its block stays in place."""
    p, rank = comm.Get_size(), comm.Get_rank()
    placement, node, _, local = on_node(comm, nodes)
    leaders, root_node = placement.leaders(root), placement.node[root]
    leader_index = placement.index[leaders[node]]
    if rank == root:
        whole = required(sendbuf, "the root of a scatter")
        layout = Layout.equal(whole.size, p)
        packed = whole if placement.in_rank_order else spare_memory(whole, whole.size)
        for place, other in enumerate(() if placement.in_rank_order else placement.order):
            layout.put(packed, place, layout.block(whole, other))
        counts = [len(ranks) * layout.largest for ranks in placement.nodes]
        outer.run(Subset(comm, leaders, node), packed, None, counts, root=root_node, tag=tag)
        inner.run(local, Layout.of(counts).block(packed, node), recvbuf, root=leader_index, tag=tag)
        return
    own = required(recvbuf, "a rank that receives its block")
    if rank == leaders[node]:
        part = spare_memory(own, len(placement.nodes[node]) * own.size)
        counts = [len(ranks) * own.size for ranks in placement.nodes]
        outer.run(Subset(comm, leaders, node), None, part, counts, root=root_node, tag=tag)
        inner.run(local, part, own, root=leader_index, tag=tag)
    else:
        inner.run(local, None, own, root=leader_index, tag=tag)
