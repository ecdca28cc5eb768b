"""Gather on two levels: every node gathers its blocks to one rank, and these ranks send them to the root.

The leader of a node is its first rank; on the root's node it is the root (`nodes` is the number of ranks per node, or the
node of each rank). Every node runs the gather `inner` to its leader, then the leaders run the gatherv `outer`. If nodes do
not have consecutive ranks, the root receives into scratch memory and copies the blocks to their places.

    p = 4, nodes of 2, root 0    start    on nodes    leaders 0, 2
    rank 0                       0...     01..        0123
    rank 1                       .1..     .1..        .1..
    rank 2                       ..2.     ..23        ..23
    rank 3                       ...3     ...3        ...3

Rounds   sum of both parts    Sent per rank   sum of both parts    Scratch   sum of both parts; and n m bytes
         on the leader of a node with n ranks
Time     sum of both parts; the exact time is computed from the schedule if `outer` is binomial, otherwise no claim: the
         order in which leaders are served may depend on when they are ready
Fits     any p; every rank has a node; blocks of equal size; cases that both parts support
Best     short blocks on nodes whose processes share a network port: a node sends one message
Source   Luo, Wu, Bosilca, Pei, Cao, Patinyasakdikul, Zhong, Dongarra, HAN: a Hierarchical AutotuNed Collective
         Communication Framework, IEEE CLUSTER 2020, pages 23-34
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.gather.binomial import gather_binomial
from collectives.intra.gatherv.binomial import gatherv_binomial
from collectives.tools.blocks import Layout, load, required, spare_memory
from collectives.tools.nodes import Nodes, placement_of
from collectives.tools.protocol import Buffer, Comm
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    outer, inner = gather_two_level.parameter(case, "outer"), gather_two_level.parameter(case, "inner")
    placement, size = placement_of(gather_two_level.parameter(case, "nodes"), case.p), case.itemsize
    leaders, root_node = placement.leaders(case.root), placement.node[case.root]
    counts = tuple(len(ranks) * case.elements for ranks in placement.nodes)
    roots = [placement.index[leader] for leader in leaders]
    yield [
        GroupCase(ranks, inner, Case(len(ranks), case.m, root=roots[node], itemsize=size, in_place=node == root_node))
        for node, ranks in enumerate(placement.nodes)
    ]
    yield [GroupCase(leaders, outer, Case(len(counts), counts=counts, root=root_node, itemsize=size, in_place=True))]


def own_scratch(case: Case, rank: int) -> int:
    placement = placement_of(gather_two_level.parameter(case, "nodes"), case.p)
    if rank == case.root:
        return 0 if placement.in_rank_order else case.p * case.m
    return len(placement.nodes[placement.node[rank]]) * case.m if rank in placement.leaders(case.root) else 0


@algorithm(**phased_claims(phases, valid_nodes_only, own_scratch))
def gather_two_level(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer | None,
    *,
    root: int = 0,
    nodes: Nodes = 1,
    outer: Algorithm = gatherv_binomial,
    inner: Algorithm = gather_binomial,
    tag: int = 0,
) -> None:
    """Gather all blocks to the root's `recvbuf`; if the root's `sendbuf` is None, its block is there already."""
    p, rank = comm.Get_size(), comm.Get_rank()
    placement, node, index, local = on_node(comm, nodes)
    leaders, root_node = placement.leaders(root), placement.node[root]
    leader_index = placement.index[leaders[node]]
    if rank == root:
        whole = required(recvbuf, "the root of a gather")
        layout = Layout.equal(whole.size, p)
        gathered = whole if placement.in_rank_order else spare_memory(whole, whole.size)
        counts = [len(ranks) * layout.largest for ranks in placement.nodes]
        part = Layout.of(counts).block(gathered, node)
        load(layout.block(part, index), layout.block(whole, rank) if sendbuf is None else sendbuf)
        inner.run(local, None, part, root=leader_index, tag=tag)
        outer.run(Subset(comm, leaders, node), None, gathered, counts, root=root_node, tag=tag)
        for position, other in enumerate(() if placement.in_rank_order else placement.order):
            layout.put(whole, other, layout.block(gathered, position))
        return
    own = required(sendbuf, "a rank that sends its block")
    if rank == leaders[node]:
        part = spare_memory(own, len(placement.nodes[node]) * own.size)
        inner.run(local, own, part, root=leader_index, tag=tag)
        counts = [len(ranks) * own.size for ranks in placement.nodes]
        outer.run(Subset(comm, leaders, node), part, None, counts, root=root_node, tag=tag)
    else:
        inner.run(local, own, None, root=leader_index, tag=tag)
