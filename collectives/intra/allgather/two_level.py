"""Allgather on two levels: every node gathers its blocks to its first rank, these ranks gather all, and nodes broadcast.

Every node runs the algorithm `gather` to its first rank (`nodes` is the number of ranks per node, or the node of each rank).
Then the first ranks run the allgatherv `outer`, and every node broadcasts all blocks by the algorithm `bcast`. If nodes do
not have consecutive ranks, the blocks are in scratch memory in the order of nodes, and are copied to their places at the
end.

    p = 4, nodes of 2    start    gathered    ranks 0, 2    broadcast
    rank 0               0...     01..        0123          0123
    rank 1               .1..     .1..        .1..          0123
    rank 2               ..2.     ..23        0123          0123
    rank 3               ...3     ...3        ...3          0123

Rounds   sum of the parts    Sent per rank   sum of the parts
         Scratch   sum of the parts; p m bytes more if nodes do not have consecutive ranks
Time     sum of the parts; the exact time is computed from the schedule
Fits     any p; every rank has a node; blocks of equal size; cases that the parts support
Best     short blocks on nodes whose processes share a network port: one process of a node uses the network
Source   Luo, Wu, Bosilca, Pei, Cao, Patinyasakdikul, Zhong, Dongarra, HAN: a Hierarchical AutotuNed Collective
         Communication Framework, IEEE CLUSTER 2020, pages 23-34
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.allgatherv.ring import allgatherv_ring
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.gather.binomial import gather_binomial
from collectives.tools.blocks import Layout, load, spare_memory
from collectives.tools.nodes import Nodes, placement_of
from collectives.tools.protocol import Buffer, Comm
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    gather, outer, bcast = (allgather_two_level.parameter(case, name) for name in ("gather", "outer", "bcast"))
    placement, size = placement_of(allgather_two_level.parameter(case, "nodes"), case.p), case.itemsize
    counts = tuple(len(ranks) * case.elements for ranks in placement.nodes)
    yield [GroupCase(ranks, gather, Case(len(ranks), case.m, itemsize=size, in_place=True)) for ranks in placement.nodes]
    yield [GroupCase(placement.lane(0), outer, Case(len(counts), counts=counts, itemsize=size, in_place=True))]
    yield [GroupCase(ranks, bcast, Case(len(ranks), case.p * case.m, itemsize=size)) for ranks in placement.nodes]


def own_scratch(case: Case, rank: int) -> int:
    return 0 if placement_of(allgather_two_level.parameter(case, "nodes"), case.p).in_rank_order else case.p * case.m


@algorithm(**phased_claims(phases, valid_nodes_only, own_scratch))
def allgather_two_level(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    nodes: Nodes = 1,
    gather: Algorithm = gather_binomial,
    outer: Algorithm = allgatherv_ring,
    bcast: Algorithm = bcast_binomial,
    tag: int = 0,
) -> None:
    """Gather equal blocks to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    placement, node, index, local = on_node(comm, nodes)
    gathered = recvbuf if placement.in_rank_order else spare_memory(recvbuf, recvbuf.size)
    own = layout.block(recvbuf, rank) if sendbuf is None else sendbuf
    if index == 0:
        counts = [len(ranks) * layout.largest for ranks in placement.nodes]
        part = Layout.of(counts).block(gathered, node)
        load(layout.block(part, 0), own)
        gather.run(local, None, part, root=0, tag=tag)
        outer.run(Subset(comm, placement.lane(0), node), None, gathered, counts, tag=tag)
    else:
        gather.run(local, own, None, root=0, tag=tag)
    bcast.run(local, gathered, root=0, tag=tag)
    if not placement.in_rank_order:
        for place, other in enumerate(placement.order):
            layout.put(recvbuf, other, layout.block(gathered, place))
