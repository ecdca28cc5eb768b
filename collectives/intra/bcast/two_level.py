"""Broadcast on two levels: one rank of each node receives the message and broadcasts it on its node.

The leader of a node is its first rank; on the root's node it is the root (`nodes` is the number of ranks per node, or the
node of each rank). The leaders run the broadcast `outer`, then every node runs the broadcast `inner`.

    p = 4, nodes of 2, root 0    start    leaders 0, 2    on nodes
    rank 0                       x        x               x
    rank 1                       .        .               x
    rank 2                       .        x               x
    rank 3                       .        .               x

Rounds   sum of both parts    Sent per rank   sum of both parts    Scratch   sum of both parts
Time     sum of both parts; the exact time is computed from the schedule
Fits     any p; every rank has a node; cases that both parts support
Best     nodes whose processes share a network port: a node receives the message once
Source   Luo, Wu, Bosilca, Pei, Cao, Patinyasakdikul, Zhong, Dongarra, HAN: a Hierarchical AutotuNed Collective
         Communication Framework, IEEE CLUSTER 2020, pages 23-34
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.tools.nodes import Nodes, placement_of
from collectives.tools.protocol import Buffer, Comm
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    outer, inner = bcast_two_level.parameter(case, "outer"), bcast_two_level.parameter(case, "inner")
    placement, m, size = placement_of(bcast_two_level.parameter(case, "nodes"), case.p), case.m, case.itemsize
    leaders = placement.leaders(case.root)
    yield [GroupCase(leaders, outer, Case(len(leaders), m, root=placement.node[case.root], itemsize=size))]
    yield [
        GroupCase(ranks, inner, Case(len(ranks), m, root=placement.index[leader], itemsize=size))
        for ranks, leader in zip(placement.nodes, leaders, strict=True)
    ]


@algorithm(**phased_claims(phases, valid_nodes_only))
def bcast_two_level(
    comm: Comm,
    buf: Buffer,
    *,
    root: int = 0,
    nodes: Nodes = 1,
    outer: Algorithm = bcast_binomial,
    inner: Algorithm = bcast_binomial,
    tag: int = 0,
) -> None:
    """Copy the root's `buf` to every rank's."""
    placement, node, _, local = on_node(comm, nodes)
    leaders = placement.leaders(root)
    if comm.Get_rank() == leaders[node]:
        outer.run(Subset(comm, leaders, node), buf, root=placement.node[root], tag=tag)
    inner.run(local, buf, root=placement.index[leaders[node]], tag=tag)
