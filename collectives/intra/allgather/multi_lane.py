"""Allgather by lanes: every lane gathers its blocks between nodes, then nodes exchange what their ranks have gathered.

Lane i consists of the ranks with index i on their nodes (`nodes`: the number of ranks per node, or the node of each rank).
The lanes gather the blocks of their ranks by the algorithm `outer`, at the same time. Then the ranks of each node gather the
blocks of all lanes by `inner`, and copy them to their places.

    p = 4, nodes of 2    start    lanes 0, 2 and 1, 3    on nodes
    rank 0               0...     0.2.                   0123
    rank 1               .1..     .1.3                   0123
    rank 2               ..2.     0.2.                   0123
    rank 3               ...3     .1.3                   0123

Rounds   sum of both parts    Sent per rank   (p-1) m bytes; with parts that send each block once    Scratch   p m bytes
Time     sum of both parts; both Bruck's or ring: (p-1) m t_w and the start-ups of both
Fits     equal nodes; the same number of ranks on each node; blocks of equal size; cases that both parts support
Best     long blocks on nodes with several network ports, or where one process cannot use the node's bandwidth
Source   Träff, Hunold, Decomposing Collectives for Exploiting Multi-lane Communication, 2019,
         arXiv:1910.13373 (derived from the abstract)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import equal_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.allgather.bruck import allgather_bruck
from collectives.tools.blocks import Layout, load, spare_memory
from collectives.tools.nodes import Nodes, placement_of
from collectives.tools.protocol import Buffer, Comm
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    outer, inner = allgather_multi_lane.parameter(case, "outer"), allgather_multi_lane.parameter(case, "inner")
    placement, size = placement_of(allgather_multi_lane.parameter(case, "nodes"), case.p), case.itemsize
    count = len(placement.nodes)
    between = Case(count, case.m, itemsize=size, in_place=True)
    within = Case(placement.smallest, count * case.m, itemsize=size, in_place=True)
    yield [GroupCase(placement.lane(i), outer, between) for i in range(placement.smallest)]
    yield [GroupCase(ranks, inner, within) for ranks in placement.nodes]


def own_scratch(case: Case, rank: int) -> int:
    return case.p * case.m


@algorithm(**phased_claims(phases, equal_nodes_only, own_scratch))
def allgather_multi_lane(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    nodes: Nodes = 1,
    outer: Algorithm = allgather_bruck,
    inner: Algorithm = allgather_bruck,
    tag: int = 0,
) -> None:
    """Gather equal blocks to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    placement, node, index, local = on_node(comm, nodes)
    lanes = placement.smallest
    gathered = spare_memory(recvbuf, recvbuf.size)
    by_lane = Layout.equal(recvbuf.size, lanes)
    mine = by_lane.block(gathered, index)
    own = layout.block(recvbuf, rank) if sendbuf is None else sendbuf
    load(layout.block(mine, node), own)
    outer.run(Subset(comm, placement.lane(index), node), None, mine, tag=tag)
    inner.run(local, None, gathered, tag=tag)
    for lane in range(lanes):
        for place, other in enumerate(placement.lane(lane)):
            layout.put(recvbuf, other, layout.block(gathered, lane * len(placement.nodes) + place))
