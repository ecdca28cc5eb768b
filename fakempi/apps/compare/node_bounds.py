"""Lower bounds on two-level machines, where ranks on a node share its network ports (cost model `two_level`), in one group.

Let a message of n bytes take a + n b within a node and A + n B between nodes. The bound is the largest of three times.

Flat: the bound of `bounds` for a machine in which every message has the smaller start-up time and the smaller time per byte
of the kinds of messages that exist. On such a machine an algorithm is at least as fast.

Start-up times: the data of one rank must reach all ranks, or in reverse, data of all ranks must reach one. A rank that has
the data at time x has finished its j-th message within the node at x + j a at the earliest, and its j-th message between
nodes at x + j A, because its port sends one message at a time. Let every rank send both kinds at the same time, and let no
message reach a rank that has the data. Then the n-th rank has the data at least as early as in any algorithm. Two facts
remain: messages within the first node reach at most the other ranks of this node, at most as many as the largest node has;
and of the messages between nodes there is one for each other node. The time of the last rank, and the time of the last such
message, are lower bounds. In reverse, receives take the place of sends.

Network ports: certain bytes must enter or leave each node. A network port holds a message for at least its n B. The message
that gets a port last gets it when all other bytes X - n of the port have passed, and ends A + n B later, so the last one
ends at A + X B or later. With several ports, one of them has at least its share of the bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from typing import TypeGuard

from collectives import Case
from collectives.catalogue.schedule import Seconds
from fakempi.apps.compare.bounds import lower_bound, reached
from fakempi.core.network.cost import CostModel
from fakempi.core.network.models.two_level import TwoLevel


def has_node_bound(cost: CostModel) -> TypeGuard[TwoLevel]:
    """Return whether `node_bound` holds for a cost model: not for classes that derive from TwoLevel or from Hockney."""
    if type(cost) is not TwoLevel or cost.ports != 1:
        return False
    return cost.intra.linear is not None and cost.inter.linear is not None


def node_bound(operation: str, case: Case, cost: TwoLevel) -> Seconds:
    """Return the lower bound of a case within one group, in seconds.

    >>> from fakempi import Hockney
    >>> cost = TwoLevel(4, intra=Hockney(1, 1), inter=Hockney(10, 2))
    >>> node_bound("alltoall", Case(8, 100), cost), node_bound("barrier", Case(8), cost)
    (3210, 12)
    """
    nodes = [cost.node(rank) for rank in range(case.p)]
    sizes = sorted(Counter(nodes).values())
    within, between = cost.intra.linear, cost.inter.linear
    assert within is not None
    assert between is not None
    kinds = [within] * (sizes[-1] > 1) + [between] * (len(sizes) > 1)
    if not kinds:
        return 0
    flat = lower_bound(operation, case, *map(min, zip(*kinds, strict=True)))
    if len(sizes) == 1 or not lower_bound(operation, case, 1, 1):  # one node, or nothing to send
        return flat
    startups = _startups(sizes, within[0], between[0]) if reached(operation, case) == case.p else 0
    share = Fraction(_busiest_node(operation, case, nodes), cost.network_ports)
    exact = share.numerator if share.denominator == 1 else share
    return max(flat, startups, between[0] + exact * between[1] if share else 0)


def _startups(sizes: Sequence[int], within: Seconds, between: Seconds) -> Seconds:
    """Return the time at which all ranks, and a rank on every node, can have data of one rank.

    >>> _startups([8] * 8, 1, 4), _startups([1, 1, 1, 1], 1, 4), _startups([1, 2], 1, 4)
    (9, 8, 4)
    """
    first_node, missing, nodes = sizes[-1] - 1, sum(sizes) - 1, len(sizes) - 1
    # the end of a message, whether it is one between nodes, and whether the sender is on the first node
    ends: list[tuple[Seconds, bool, bool]] = []

    def add_rank(at: Seconds, on_first: bool) -> None:
        if not on_first or first_node:
            heappush(ends, (at + within, False, on_first))
        heappush(ends, (at + between, True, on_first))

    now: Seconds = 0
    add_rank(now, True)
    while missing > 0 or nodes > 0:
        now, is_between, on_first = heappop(ends)
        if is_between:
            nodes -= 1
        elif missing <= 0 or (on_first and not first_node):
            continue
        elif on_first:
            first_node -= 1
        missing -= 1
        heappush(ends, (now + (between if is_between else within), is_between, on_first))
        add_rank(now, on_first and not is_between)
    return now


def _busiest_node(operation: str, case: Case, nodes: Sequence[Hashable]) -> int | Fraction:
    """Return the bytes that the network ports of one node must transfer in one direction, at least; there are several nodes.

    Whole messages: each element is needed on another node. In an allreduce over N nodes, N partial results of an element
    become one by N-1 messages between nodes, and N-1 more copy it to the other nodes; one of N ports has its share.
    """
    p, m, layout = case.p, case.m, case.layout
    sizes = [layout.size(rank) * case.itemsize for rank in range(p)] if case.counts is not None else [m] * p
    own: Counter[Hashable] = Counter()
    for node, size in zip(nodes, sizes, strict=True):
        own[node] += size
    match operation:
        case "bcast" | "reduce" | "scan" | "exscan":
            return m
        case "allreduce":
            return Fraction(2 * (len(own) - 1) * m, len(own))
        case "gather" | "gatherv" | "scatter" | "scatterv":
            return sum(sizes) - own[nodes[case.root]]
        case "allgather" | "allgatherv":
            return sum(sizes) - min(own.values())
        case "reduce_scatter" | "reduce_scatter_block":
            return max(sum(sizes) - min(own.values()), max(own.values()))
        case "alltoall" | "alltoallv" | "alltoallw":
            return _exchanged(case, nodes)
    return 0


def _exchanged(case: Case, nodes: Sequence[Hashable]) -> int:
    """Return the bytes that an alltoall sends from or to the other nodes, for the node that has most of them."""
    if case.traffic is None:
        return max(size * (case.p - size) for size in Counter(nodes).values()) * case.m
    out: Counter[Hashable] = Counter()
    into: Counter[Hashable] = Counter()
    known: dict[int, Counter[Hashable]] = {}  # of a row of counts, which many ranks share: the elements for each node
    for source, node in enumerate(nodes):
        row = case.traffic[source]
        if id(row) not in known:
            for_node = known[id(row)] = Counter()
            for other, count in zip(nodes, row, strict=True):
                for_node[other] += count
        for other, count in known[id(row)].items():
            if node != other:
                out[node] += count * case.itemsize
                into[other] += count * case.itemsize
    return max([*out.values(), *into.values()])
