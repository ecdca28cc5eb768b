"""Barrier on two levels with a broadcast: a barrier on every node, one between nodes, and a broadcast on every node.

First, the ranks of each node run a barrier. Then the first ranks of all nodes run a barrier. Finally, the first rank of each
node releases the other ranks of the node by a broadcast of one byte (`bcast`). The barrier two_level runs a second barrier
on each node instead.

    p = 4, nodes of 2    start    on nodes    ranks 0, 2    broadcast    (ranks that a rank knows to have entered)
    rank 0               0        01          0123          0123
    rank 1               1        01          01            0123
    rank 2               2        23          0123          0123
    rank 3               3        23          23            0123

Rounds   sum of the parts    Sent per rank   sum of the parts    Scratch   1 byte + parts
Time     sum of the parts; the exact time is computed from the schedule
Fits     any p; every rank has a node; cases that the parts support
Best     nodes whose processes share a network port: only one process of each node uses the network, and the first
         rank of a node does not wait for the others again
Source   MPICH, src/mpi/coll/barrier/barrier_intra_smp.c
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.barrier.dissemination import barrier_dissemination
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.tools.blocks import spare_memory
from collectives.tools.messages import TOKEN
from collectives.tools.nodes import Nodes, placement_of
from collectives.tools.protocol import Comm
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    inner, outer, bcast = (barrier_smp.parameter(case, name) for name in ("inner", "outer", "bcast"))
    placement = placement_of(barrier_smp.parameter(case, "nodes"), case.p)
    yield [GroupCase(ranks, inner, Case(len(ranks))) for ranks in placement.nodes]
    yield [GroupCase(placement.lane(0), outer, Case(len(placement.nodes)))]
    yield [GroupCase(ranks, bcast, Case(len(ranks), 1, itemsize=1)) for ranks in placement.nodes]


@algorithm(**phased_claims(phases, valid_nodes_only, lambda case, rank: 1))
def barrier_smp(
    comm: Comm,
    *,
    nodes: Nodes = 1,
    inner: Algorithm = barrier_dissemination,
    outer: Algorithm = barrier_dissemination,
    bcast: Algorithm = bcast_binomial,
    tag: int = 0,
) -> None:
    """Return when every rank has entered the barrier."""
    placement, node, index, local = on_node(comm, nodes)
    inner.run(local, tag=tag)
    if index == 0:
        outer.run(Subset(comm, placement.lane(0), node), tag=tag)
    bcast.run(local, spare_memory(TOKEN, 1), root=0, tag=tag)
