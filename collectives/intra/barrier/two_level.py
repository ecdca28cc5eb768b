"""Barrier on two levels: a barrier on every node, one between nodes, and a second one on every node.

The parameter `nodes` is the number of ranks per node, or a list with the node of each rank. First, the ranks of each node
run the barrier `inner`. Then the first ranks of all nodes run the barrier `outer`. Finally, the ranks of each node run
`inner` again: the first rank enters it after `outer`, so no rank of the node returns before all ranks have entered.

    p = 4, nodes of 2    start    on nodes    ranks 0, 2    on nodes     (ranks that a rank knows to have entered)
    rank 0               0        01          0123          0123
    rank 1               1        01          01            0123
    rank 2               2        23          0123          0123
    rank 3               3        23          23            0123

Rounds   sum of the parts    Sent per rank   0 bytes    Scratch   none
Time     sum of the parts; the exact time is computed from the schedule
Fits     any p; every rank has a node; cases that `outer` and `inner` support
Best     nodes whose processes share a network port: only one process of each node uses the network
Source   Luo, Wu, Bosilca, Pei, Cao, Patinyasakdikul, Zhong, Dongarra, HAN: a Hierarchical AutotuNed Collective
         Communication Framework, IEEE CLUSTER 2020, pages 23-34
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.barrier.dissemination import barrier_dissemination
from collectives.tools.nodes import Nodes, placement_of
from collectives.tools.protocol import Comm
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    outer, inner = barrier_two_level.parameter(case, "outer"), barrier_two_level.parameter(case, "inner")
    placement = placement_of(barrier_two_level.parameter(case, "nodes"), case.p)
    on_nodes = [GroupCase(ranks, inner, Case(len(ranks))) for ranks in placement.nodes]
    yield on_nodes
    yield [GroupCase(placement.lane(0), outer, Case(len(placement.nodes)))]
    yield on_nodes


@algorithm(**phased_claims(phases, valid_nodes_only))
def barrier_two_level(
    comm: Comm,
    *,
    nodes: Nodes = 1,
    outer: Algorithm = barrier_dissemination,
    inner: Algorithm = barrier_dissemination,
    tag: int = 0,
) -> None:
    """Return when every rank has entered the barrier."""
    placement, node, index, local = on_node(comm, nodes)
    inner.run(local, tag=tag)
    if index == 0:
        outer.run(Subset(comm, placement.lane(0), node), tag=tag)
    inner.run(local, tag=tag)
