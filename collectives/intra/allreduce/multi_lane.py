"""Allreduce by lanes: nodes reduce one piece per lane, each lane reduces its piece between nodes, nodes collect the pieces.

Lane i consists of the ranks with index i on their nodes (`nodes`: the number of ranks per node, or the node of each rank);
there are as many lanes as ranks on the smallest node. The message has one piece per lane. Every node leaves the sum of piece
i on its rank i by the algorithm `reduce_scatter`, the lanes reduce their pieces by `allreduce` at the same time, and every
node collects the results by `allgatherv`. All ranks receive the same result if `allreduce` has this property.

    p = 4, nodes of 2    start    on nodes    lanes 0, 2 and 1, 3    collected    (operands in each piece)
    rank 0               11       2.          4.                     44
    rank 1               11       .2          .4                     44
    rank 2               11       2.          4.                     44
    rank 3               11       .2          .4                     44

Rounds   sum of the parts    Sent per rank   sum of the parts    Scratch   m / lanes bytes; and that of the parts
Time     sum of the parts; between nodes only m / lanes bytes per process are reduced; the exact time is computed from
         the schedule
Fits     any p; every rank has a node; commutative ops; cases that the parts support
Bits     equal on all ranks; depend on p, nodes
Best     long messages on nodes with several network ports, or where one process cannot use the node's bandwidth
Source   Träff, Hunold, Decomposing Collectives for Exploiting Multi-lane Communication, 2019,
         arXiv:1910.13373 (derived from the abstract; unequal nodes use the lanes of the smallest node)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import all_of, commutative_only, valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.allgatherv.ring import allgatherv_ring
from collectives.intra.allreduce.rabenseifner import allreduce_rabenseifner
from collectives.intra.reduce_scatter.pairwise import reduce_scatter_pairwise
from collectives.tools.blocks import Layout, check_same_size, spare_memory
from collectives.tools.nodes import Nodes, lane_counts, placement_of
from collectives.tools.protocol import Buffer, Comm, Op
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    reduce_scatter, allreduce, allgatherv = (
        allreduce_multi_lane.parameter(case, name) for name in ("reduce_scatter", "allreduce", "allgatherv")
    )
    placement, size = placement_of(allreduce_multi_lane.parameter(case, "nodes"), case.p), case.itemsize
    pieces = Layout.nearly_equal(case.elements, placement.smallest)
    counted = [(ranks, tuple(lane_counts(pieces, len(ranks)))) for ranks in placement.nodes]
    yield [GroupCase(ranks, reduce_scatter, Case(len(ranks), counts=each, itemsize=size)) for ranks, each in counted]
    lengths = [pieces.size(lane) * size for lane in range(placement.smallest)]
    yield [
        GroupCase(placement.lane(lane), allreduce, Case(len(placement.nodes), nbytes, itemsize=size, in_place=True))
        for lane, nbytes in enumerate(lengths)
    ]
    yield [
        GroupCase(ranks, allgatherv, Case(len(ranks), counts=each, itemsize=size, in_place=True)) for ranks, each in counted
    ]


def own_scratch(case: Case, rank: int) -> int:
    placement = placement_of(allreduce_multi_lane.parameter(case, "nodes"), case.p)
    index, pieces = placement.index[rank], Layout.nearly_equal(case.elements, placement.smallest)
    return pieces.size(index) * case.itemsize if index < placement.smallest else 0


@algorithm(**phased_claims(phases, all_of(commutative_only, valid_nodes_only), own_scratch))
def allreduce_multi_lane(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    op: Op,
    nodes: Nodes = 1,
    reduce_scatter: Algorithm = reduce_scatter_pairwise,
    allreduce: Algorithm = allreduce_rabenseifner,
    allgatherv: Algorithm = allgatherv_ring,
    tag: int = 0,
) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    own = recvbuf if sendbuf is None else sendbuf
    check_same_size(own, recvbuf)
    placement, node, index, local = on_node(comm, nodes)
    pieces = Layout.nearly_equal(recvbuf.size, placement.smallest)
    counts = lane_counts(pieces, local.Get_size())
    piece = spare_memory(recvbuf, counts[index])
    reduce_scatter.run(local, own, piece, counts, op=op, tag=tag)
    if index < placement.smallest:
        allreduce.run(Subset(comm, placement.lane(index), node), None, piece, op=op, tag=tag)
        pieces.put(recvbuf, index, piece)
    allgatherv.run(local, None, recvbuf, counts, tag=tag)
