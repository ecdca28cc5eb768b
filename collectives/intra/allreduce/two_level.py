"""Allreduce on two levels: every node reduces to its first rank, these ranks run an allreduce, and nodes broadcast.

Every node runs the algorithm `reduce` to its first rank (`nodes` is the number of ranks per node, or the node of each rank).
Then the first ranks run the allreduce `outer`, and every node runs the algorithm `bcast`.

    p = 4, nodes of 2    start   reduced   ranks 0, 2   broadcast
    rank 0               0       01        0123         0123
    rank 1               1       1         1            0123
    rank 2               2       23        0123         0123
    rank 3               3       3         3            0123

Rounds   sum of the parts    Sent per rank   sum of the parts    Scratch   sum of the parts
Time     sum of the parts; the exact time is computed from the schedule
Fits     any p; every rank has a node; commutative ops; cases that the parts support
Bits     equal on all ranks; depend on p, nodes
Best     short messages on nodes whose processes share a network port: one process of a node uses the network
Source   Luo, Wu, Bosilca, Pei, Cao, Patinyasakdikul, Zhong, Dongarra, HAN: a Hierarchical AutotuNed Collective
         Communication Framework, IEEE CLUSTER 2020, pages 23-34
"""

from __future__ import annotations

from collections.abc import Iterator

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.conditions import all_of, commutative_only, valid_nodes_only
from collectives.catalogue.declaration import algorithm
from collectives.intra.allreduce.recursive_doubling import allreduce_recursive_doubling
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.reduce.binomial import reduce_binomial
from collectives.tools.blocks import check_same_size
from collectives.tools.nodes import Nodes, placement_of
from collectives.tools.protocol import Buffer, Comm, Op
from collectives.tools.subset import Subset, on_node


def phases(case: Case) -> Iterator[Phase]:
    reduce, outer, bcast = (allreduce_two_level.parameter(case, name) for name in ("reduce", "outer", "bcast"))
    placement, m, size = placement_of(allreduce_two_level.parameter(case, "nodes"), case.p), case.m, case.itemsize
    yield [GroupCase(ranks, reduce, Case(len(ranks), m, itemsize=size, in_place=case.in_place)) for ranks in placement.nodes]
    yield [GroupCase(placement.lane(0), outer, Case(len(placement.nodes), m, itemsize=size, in_place=True))]
    yield [GroupCase(ranks, bcast, Case(len(ranks), m, itemsize=size)) for ranks in placement.nodes]


@algorithm(**phased_claims(phases, all_of(commutative_only, valid_nodes_only)))
def allreduce_two_level(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    op: Op,
    nodes: Nodes = 1,
    reduce: Algorithm = reduce_binomial,
    outer: Algorithm = allreduce_recursive_doubling,
    bcast: Algorithm = bcast_binomial,
    tag: int = 0,
) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    placement, node, index, local = on_node(comm, nodes)
    if index == 0:
        reduce.run(local, sendbuf, recvbuf, op=op, root=0, tag=tag)
        outer.run(Subset(comm, placement.lane(0), node), None, recvbuf, op=op, tag=tag)
    else:
        own = recvbuf if sendbuf is None else sendbuf
        check_same_size(own, recvbuf)
        reduce.run(local, own, None, op=op, root=0, tag=tag)
    bcast.run(local, recvbuf, root=0, tag=tag)
