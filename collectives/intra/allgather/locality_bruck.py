"""Allgather by Bruck's algorithm with locality: the ranks of a node fetch the blocks of different nodes, and share them.

There are n ranks on each node (`nodes` is the number of ranks per node, or the node of each rank). A node first gathers its
own blocks by the algorithm `allgather`. When it has the blocks of w nodes, its own and those of the next w-1 nodes, rank i =
1 .. n-1 of the node receives the blocks of w more nodes from rank i of the node at distance i w. The ranks of the node then
share the received blocks by `allgatherv`. Each such step multiplies w by n, with one message between nodes per rank. Nodes
of one rank use n = 2, which is Bruck's algorithm.

    p = 4, nodes of 2    start    on nodes    ranks 1 and 3 exchange    on nodes
    rank 0               0...     01..        01..                      0123
    rank 1               .1..     01..        0123                      0123
    rank 2               ..2.     ..23        ..23                      0123
    rank 3               ...3     ..23        0123                      0123

Rounds   sum of the parts    Sent per rank   sum of the parts    Scratch   p m bytes; and that of the parts
Time     computed from the schedule; log_n N messages between nodes per rank for N nodes instead of log2 p
Fits     equal nodes; the same number of ranks on each node; blocks of equal size; cases that the parts support
Best     short blocks on nodes, where a message between nodes costs much more than within a node
Source   Bienz, Gautam, Kharel, A Locality-Aware Bruck Allgather, 2022, arXiv:2206.03564 (derived from the
         abstract)
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import equal_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer
from collectives.intra.allgather.bruck import allgather_bruck
from collectives.intra.allgatherv.bruck import allgatherv_bruck
from collectives.tools.blocks import Layout, load, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.nodes import Nodes, placement_of
from collectives.tools.protocol import Buffer, Comm
from collectives.tools.subset import on_node


def _distance(index: int, width: int, n: int) -> int:
    """The distance of the first node whose blocks a rank fetches."""
    return width if n == 1 else index * width


def steps(count: int, n: int) -> Iterator[tuple[int, list[int]]]:
    """For each exchange between nodes: the number of nodes whose blocks a node has, and the number that each rank fetches.

    >>> list(steps(7, 3)), list(steps(5, 1))
    ([(1, [0, 1, 1]), (3, [0, 3, 1])], [(1, [1]), (2, [2]), (4, [1])])
    """
    width = 1
    while width < count:
        first = [_distance(index, width, n) for index in range(n)]
        yield width, [max(0, min(width, count - start)) if start else 0 for start in first]
        width *= max(2, n)


def exchanges(case: Case) -> Iterator[tuple[int, list[int]]]:
    placement = placement_of(allgather_locality_bruck.parameter(case, "nodes"), case.p)
    return steps(len(placement.nodes), placement.smallest)


def within_nodes(case: Case) -> Iterator[Phase]:
    """The parts on the nodes: the first, and one after each exchange between nodes."""
    allgather, allgatherv = (
        allgather_locality_bruck.parameter(case, "allgather"),
        allgather_locality_bruck.parameter(case, "allgatherv"),
    )
    placement = placement_of(allgather_locality_bruck.parameter(case, "nodes"), case.p)
    n = placement.smallest
    first = Case(n, case.m, itemsize=case.itemsize, in_place=True)
    yield [GroupCase(ranks, allgather, first) for ranks in placement.nodes]
    for _, fetched in exchanges(case):
        counts = tuple(each * n * case.elements for each in fetched)
        share = Case(n, counts=counts, itemsize=case.itemsize, in_place=True)
        yield [GroupCase(ranks, allgatherv, share) for ranks in placement.nodes]


def between_nodes(case: Case) -> Iterator[list[Round]]:
    """The rounds of each exchange between nodes."""
    placement = placement_of(allgather_locality_bruck.parameter(case, "nodes"), case.p)
    count, n = len(placement.nodes), placement.smallest
    for width, fetched in exchanges(case) if case.m else ():
        distances = [(index, _distance(index, width, n), size) for index, size in enumerate(fetched) if size]
        yield [
            [
                Transfer(placement.nodes[(node + distance) % count][index], placement.nodes[node][index], size * n * case.m)
                for node in range(count)
                for index, distance, size in distances
            ]
        ]


def own_scratch(case: Case, rank: int) -> int:
    return case.p * case.m


@algorithm(**phased_claims(within_nodes, equal_nodes_only, own_scratch, between_nodes))
def allgather_locality_bruck(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    nodes: Nodes = 1,
    allgather: Algorithm = allgather_bruck,
    allgatherv: Algorithm = allgatherv_bruck,
    tag: int = 0,
) -> None:
    """Gather equal blocks to all ranks; if `sendbuf` is None, `recvbuf` holds the rank's own block."""
    p, rank = comm.Get_size(), comm.Get_rank()
    layout = Layout.equal(recvbuf.size, p)
    placement, node, index, local = on_node(comm, nodes)
    count = len(placement.nodes)
    # The blocks of a node are one part of `gathered`: first those of this node, then those of the next nodes.
    gathered, parts = spare_memory(recvbuf, recvbuf.size), Layout.equal(recvbuf.size, count)
    home, own = parts.block(gathered, 0), layout.block(recvbuf, rank) if sendbuf is None else sendbuf
    load(layout.block(home, index), own)
    allgather.run(local, None, home, tag=tag)
    for width, fetched in steps(count, placement.smallest):
        start, size = _distance(index, width, placement.smallest), fetched[index]
        if size:
            to, origin = (placement.nodes[(node + distance) % count][index] for distance in (-start, start))
            exchange(comm, parts.block(gathered, 0, size), to, parts.block(gathered, start, start + size), origin, tag)
        end = width + sum(fetched)
        counts = [parts.size(0, each) for each in fetched]
        allgatherv.run(local, None, parts.block(gathered, width, end), counts, tag=tag)
    for distance in range(count):
        for place, other in enumerate(placement.nodes[(node + distance) % count]):
            layout.put(recvbuf, other, layout.block(gathered, distance * placement.smallest + place))
