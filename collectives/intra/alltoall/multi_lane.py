"""Alltoall by lanes: one message per pair of nodes and lane, then every node delivers the blocks to its ranks.

Lane i consists of the ranks with index i on their nodes (`nodes`: the number of ranks per node, or the node of each rank).
On its lane, a rank sends to each node all its blocks for the ranks of that node, by the algorithm `outer`. Then the ranks of
each node exchange the blocks that they have received for each other, by `inner`. All blocks are packed before each part.

    p = 4, nodes of 2    start          lanes 0, 2 and 1, 3    on nodes     (block rs travels from r to s)
    rank 0               00 01 02 03    00 01 20 21            00 10 20 30
    rank 1               10 11 12 13    10 11 30 31            01 11 21 31
    rank 2               20 21 22 23    02 03 22 23            02 12 22 32
    rank 3               30 31 32 33    12 13 32 33            03 13 23 33

Rounds   sum of both parts    Sent per rank   sum of both parts    Scratch   2 p m bytes; and that of the parts
Time     sum of both parts; both pairwise, N nodes of n ranks: (N-1) (t_s + n m t_w) + (n-1) (t_s + N m t_w)
Fits     equal nodes; the same number of ranks on each node; blocks of equal size; cases that both parts support
Best     short blocks on nodes: n times fewer messages between nodes; nodes with several network ports
Source   Träff, Hunold, Decomposing Collectives for Exploiting Multi-lane Communication, 2019,
         arXiv:1910.13373 (derived from the abstract)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import equal_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.alltoall.pairwise import alltoall_pairwise
from collectives.tools.blocks import Layout, check_same_size, spare_memory
from collectives.tools.nodes import Nodes, placement_of
from collectives.tools.protocol import Buffer, Comm
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    outer, inner = alltoall_multi_lane.parameter(case, "outer"), alltoall_multi_lane.parameter(case, "inner")
    placement, size = placement_of(alltoall_multi_lane.parameter(case, "nodes"), case.p), case.itemsize
    count, lanes = len(placement.nodes), placement.smallest
    yield [GroupCase(placement.lane(i), outer, Case(count, lanes * case.m, itemsize=size)) for i in range(lanes)]
    yield [GroupCase(ranks, inner, Case(lanes, count * case.m, itemsize=size)) for ranks in placement.nodes]


def own_scratch(case: Case, rank: int) -> int:
    return 2 * case.p * case.m


@algorithm(**phased_claims(phases, equal_nodes_only, own_scratch))
def alltoall_multi_lane(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    nodes: Nodes = 1,
    outer: Algorithm = alltoall_pairwise,
    inner: Algorithm = alltoall_pairwise,
    tag: int = 0,
) -> None:
    """Exchange equal blocks between all ranks; if `sendbuf` is None, `recvbuf` holds the blocks to send."""
    layout = Layout.equal(recvbuf.size, comm.Get_size())
    source = recvbuf if sendbuf is None else sendbuf
    check_same_size(source, recvbuf)
    placement, node, index, local = on_node(comm, nodes)
    count, lanes = len(placement.nodes), placement.smallest
    packed, arrived = (spare_memory(recvbuf, recvbuf.size) for _ in range(2))
    for place, dest in enumerate(placement.order):
        layout.put(packed, place, layout.block(source, dest))
    outer.run(Subset(comm, placement.lane(index), node), packed, arrived, tag=tag)
    for origin in range(count):  # from a row for each node to a row for each rank of this node
        for dest in range(lanes):
            layout.put(packed, dest * count + origin, layout.block(arrived, origin * lanes + dest))
    inner.run(local, packed, arrived, tag=tag)
    for lane in range(lanes):
        for place, origin in enumerate(placement.lane(lane)):
            layout.put(recvbuf, origin, layout.block(arrived, lane * count + place))
