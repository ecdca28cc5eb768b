"""Broadcast by lanes: the root's node cuts the message into pieces, each piece is broadcast on its own lane between nodes.

Lane i consists of the ranks with index i on their nodes (`nodes`: the number of ranks per node, or the node of each rank);
there are as many lanes as ranks on the smallest node. The root scatters one piece per lane on its node by the algorithm
`scatterv`, every lane broadcasts its piece by `bcast` at the same time, and every node collects the pieces by `allgatherv`.

    p = 4, nodes of 2    start    scattered    lanes 0, 2 and 1, 3    collected
    rank 0               01       01           01                     01
    rank 1               ..       .1           .1                     01
    rank 2               ..       ..           0.                     01
    rank 3               ..       ..           .1                     01

Rounds   sum of the parts    Sent per rank   sum of the parts    Scratch   sum of the parts
Time     sum of the parts; a process sends m / lanes bytes between nodes; the exact time is computed from the schedule
Fits     any p; every rank has a node; cases that the parts support
Best     long messages on nodes with several network ports, or where one process cannot use the node's bandwidth
Source   Träff, Hunold, Decomposing Collectives for Exploiting Multi-lane Communication, 2019,
         arXiv:1910.13373 (derived from the abstract; unequal nodes use the lanes of the smallest node)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.allgatherv.ring import allgatherv_ring
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.scatterv.binomial import scatterv_binomial
from collectives.tools.blocks import Layout
from collectives.tools.nodes import Nodes, lane_counts, placement_of
from collectives.tools.protocol import Buffer, Comm
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    scatterv, bcast, allgatherv = (bcast_multi_lane.parameter(case, name) for name in ("scatterv", "bcast", "allgatherv"))
    placement, size = placement_of(bcast_multi_lane.parameter(case, "nodes"), case.p), case.itemsize
    pieces, home = Layout.nearly_equal(case.elements, placement.smallest), placement.node[case.root]
    counts = [tuple(lane_counts(pieces, len(ranks))) for ranks in placement.nodes]
    start = Case(len(counts[home]), counts=counts[home], root=placement.index[case.root], itemsize=size, in_place=True)
    yield [GroupCase(placement.nodes[home], scatterv, start)]
    yield [
        GroupCase(placement.lane(i), bcast, Case(len(placement.nodes), pieces.size(i) * size, root=home, itemsize=size))
        for i in range(placement.smallest)
    ]
    yield [
        GroupCase(ranks, allgatherv, Case(len(ranks), counts=each, itemsize=size, in_place=True))
        for ranks, each in zip(placement.nodes, counts, strict=True)
    ]


@algorithm(**phased_claims(phases, valid_nodes_only))
def bcast_multi_lane(
    comm: Comm,
    buf: Buffer,
    *,
    root: int = 0,
    nodes: Nodes = 1,
    scatterv: Algorithm = scatterv_binomial,
    bcast: Algorithm = bcast_binomial,
    allgatherv: Algorithm = allgatherv_ring,
    tag: int = 0,
) -> None:
    """Copy the root's `buf` to every rank's."""
    rank = comm.Get_rank()
    placement, node, index, local = on_node(comm, nodes)
    pieces = Layout.nearly_equal(buf.size, placement.smallest)
    counts = lane_counts(pieces, local.Get_size())
    piece = pieces.block(buf, index) if index < placement.smallest else buf[0:0]
    if rank == root:
        scatterv.run(local, buf, None, counts, root=index, tag=tag)
    elif node == placement.node[root]:
        scatterv.run(local, None, piece, counts, root=placement.index[root], tag=tag)
    if index < placement.smallest:
        bcast.run(Subset(comm, placement.lane(index), node), piece, root=placement.node[root], tag=tag)
    allgatherv.run(local, None, buf, counts, tag=tag)
