"""Scan on two levels: a scan on every node, a scan of the nodes' results, and a broadcast of the prefix to each node.

Every node runs the scan `inner` (`nodes` is the number of ranks per node, or the node of each rank). Its last rank sends the
result of the node to its first rank. The first ranks run the scan `outer` on these results. Each of them sends the result
of this scan, which is the prefix of the next node, to the first rank of that node. Every node except the first broadcasts
its prefix by `bcast`, and its ranks combine it with their prefixes on the node. With `announce`, every node first broadcasts
4 bytes that say whether a prefix follows, as in MPICH.

    p = 4, nodes of 2    start   on nodes   to first ranks   ranks 0, 2   to the next node   broadcast
    rank 0               0       0          0 and 01         0 and 01     0                  0
    rank 1               1       01         01               01           01                 01
    rank 2               2       2          2 and 23         2 and 0123   2 and 01           012
    rank 3               3       23         23               23           23                 0123

Rounds   at most 2 + parts    Sent per rank   at most 2 m + parts    Scratch   at most 2 m + parts
Time     sum of the parts + 2 (t_s + m t_w) + m c; the exact time is computed from the schedule
Fits     any p; every rank has a node; nodes with consecutive ranks; any op, in rank order; cases that the parts support
Bits     depend on nodes
Best     short messages on nodes whose processes share a network port: one process of a node uses the network
Source   MPICH, src/mpi/coll/scan/scan_intra_smp.c; there a first rank sends its prefix before it receives the other
         one, which is the same if messages are eager
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from collectives.catalogue.algorithm import Algorithm, Case
from collectives.catalogue.concurrent import GroupCase, Phase, phased_claims
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Combining, Rounds, Transfer
from collectives.intra.bcast.binomial import bcast_binomial
from collectives.intra.scan.recursive_doubling import scan_recursive_doubling
from collectives.patterns.reductions import combine
from collectives.tools.blocks import spare_memory
from collectives.tools.messages import TOKEN, exchange, receive, send
from collectives.tools.nodes import Nodes, placement_of, unsupported_nodes
from collectives.tools.protocol import Buffer, Comm, Op
from collectives.tools.subset import Subset, on_node

FLAG_BYTES = 4


def phases(case: Case) -> Iterator[Phase]:
    inner, outer, bcast = (scan_two_level.parameter(case, name) for name in ("inner", "outer", "bcast"))
    placement = placement_of(scan_two_level.parameter(case, "nodes"), case.p)

    def part(p: int, *, in_place: bool) -> Case:
        return Case(p, case.m, itemsize=case.itemsize, commutative=case.commutative, in_place=in_place)

    yield [GroupCase(ranks, inner, part(len(ranks), in_place=case.in_place)) for ranks in placement.nodes]
    if len(placement.nodes) > 1 and case.m:
        yield [GroupCase(placement.lane(0), outer, part(len(placement.nodes), in_place=True))]
        flags = [ranks for ranks in placement.nodes if len(ranks) > 1 and scan_two_level.parameter(case, "announce")]
        yield [GroupCase(ranks, bcast, Case(len(ranks), FLAG_BYTES, itemsize=1)) for ranks in flags]
        yield [GroupCase(ranks, bcast, Case(len(ranks), case.m, itemsize=case.itemsize)) for ranks in placement.nodes[1:]]


def own_rounds(case: Case) -> Iterator[Rounds]:
    placement, m = placement_of(scan_two_level.parameter(case, "nodes"), case.p), case.m
    if len(placement.nodes) > 1 and m:
        first = placement.lane(0)
        yield [[Transfer(ranks[-1], ranks[0], m) for ranks in placement.nodes if len(ranks) > 1]]
        yield [[Transfer(source, dest, m) for source, dest in pairwise(first)]]
        yield []
        yield [Combining({rank: m for ranks in placement.nodes[1:] for rank in ranks})]


def own_scratch(case: Case, rank: int) -> int:
    placement = placement_of(scan_two_level.parameter(case, "nodes"), case.p)
    if len(placement.nodes) == 1 or not case.m:
        return 0
    flag = FLAG_BYTES if scan_two_level.parameter(case, "announce") and len(placement.nodes[placement.node[rank]]) > 1 else 0
    return case.m * ((placement.index[rank] == 0) + (placement.node[rank] > 0)) + flag


def why_unsupported(case: Case) -> str | None:
    nodes = scan_two_level.parameter(case, "nodes")
    if reason := unsupported_nodes(nodes, case.p):
        return reason
    return None if placement_of(nodes, case.p).in_rank_order else "the ranks of a node are not consecutive"


@algorithm(in_order=True, **phased_claims(phases, why_unsupported, own_scratch, own_rounds))
def scan_two_level(
    comm: Comm,
    sendbuf: Buffer | None,
    recvbuf: Buffer,
    *,
    op: Op,
    nodes: Nodes = 1,
    inner: Algorithm = scan_recursive_doubling,
    outer: Algorithm = scan_recursive_doubling,
    bcast: Algorithm = bcast_binomial,
    announce: bool = False,
    tag: int = 0,
) -> None:
    """Leave the result of ranks 0 .. r in `recvbuf`; if `sendbuf` is None, `recvbuf` holds the operand."""
    placement, node, index, local = on_node(comm, nodes)
    last = local.Get_size() - 1
    inner.run(local, sendbuf, recvbuf, op=op, tag=tag)
    if len(placement.nodes) == 1 or not recvbuf.size:
        return
    before = spare_memory(recvbuf, recvbuf.size) if node else None
    if index == 0:
        through = spare_memory(recvbuf, recvbuf.size)
        if last:
            receive(local, through, last, tag)
        else:
            through[0 : through.size] = recvbuf
        leaders = Subset(comm, placement.lane(0), node)
        outer.run(leaders, None, through, op=op, tag=tag)
        follows = node + 1 < len(placement.nodes)
        exchange(leaders, through if follows else None, node + 1, before, node - 1, tag)
    elif index == last:
        send(local, recvbuf, 0, tag)
    if announce and last:
        bcast.run(local, spare_memory(TOKEN, FLAG_BYTES), root=0, tag=tag)
    if before is not None:
        bcast.run(local, before, root=0, tag=tag)
        combine(op, before, recvbuf)
