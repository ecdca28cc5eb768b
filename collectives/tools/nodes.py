"""The ranks of each node, one lane per rank of a node, and a ring of all ranks that leaves each node once.

The virtual ranking lists the nodes in the order of their first ranks, and the ranks of a node consecutively, in rank
order. On the ring of virtual ranks only the last rank of a node sends to another node, and only the first receives from
another node.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from collectives.tools.blocks import Layout

Nodes: TypeAlias = int | Sequence[Hashable]
"""The number of ranks on each node, in rank order (the last node may have fewer), or the node of each rank.

The node of a rank may be any hashable value.
"""


def unsupported_nodes(nodes: Nodes, p: int) -> str | None:
    """Reason why `nodes` is not a valid placement of p ranks, or None."""
    if isinstance(nodes, int):
        return None if nodes > 0 else f"nodes = {nodes} ranks per node is not positive"
    return None if len(nodes) == p else f"nodes has {len(nodes)} {'entry' if len(nodes) == 1 else 'entries'}, but p = {p}"


def unequal_nodes(nodes: Nodes, p: int) -> str | None:
    """Reason why `nodes` is not a valid placement of p ranks with the same number of ranks on every node, or None."""
    if reason := unsupported_nodes(nodes, p):
        return reason
    sizes = sorted({len(ranks) for ranks in placement_of(nodes, p).nodes})
    return None if len(sizes) == 1 else f"nodes have {sizes[0]} to {sizes[-1]} ranks, but must all have the same number"


class Placement:
    """The ranks of each node in rank order, the nodes in the order of their first ranks. O(p) memory.

    A lane has one rank of each node: lane i has the ranks with index i on their nodes.

    >>> placement = Placement(["a", "b", "a", "c", "b"], 5)
    >>> placement.nodes, placement.node, placement.index, placement.smallest, placement.lane(0)
    ([[0, 2], [1, 4], [3]], [0, 1, 0, 2, 1], [0, 0, 1, 0, 1], 1, [0, 1, 3])
    """

    __slots__ = ("index", "node", "nodes", "smallest")

    def __init__(self, nodes: Nodes, p: int) -> None:
        self.nodes = _members(nodes, p)
        """The ranks of each node."""
        self.node, self.index = [0] * p, [0] * p
        for node, ranks in enumerate(self.nodes):
            for index, rank in enumerate(ranks):
                self.node[rank], self.index[rank] = node, index
        self.smallest = min(map(len, self.nodes))
        """The number of ranks on the smallest node, which is the number of lanes."""

    @property
    def order(self) -> list[int]:
        """All ranks, node by node."""
        return [rank for ranks in self.nodes for rank in ranks]

    @property
    def in_rank_order(self) -> bool:
        """Whether every node has consecutive ranks."""
        return all(before < after for before, after in pairwise(self.order))

    def lane(self, index: int) -> list[int]:
        """The ranks of a lane, by node."""
        return [ranks[index] for ranks in self.nodes]

    def leaders(self, root: int = 0) -> list[int]:
        """The first rank of each node; on the node of the root, the root."""
        return [root if node == self.node[root] else ranks[0] for node, ranks in enumerate(self.nodes)]


def lane_counts(pieces: Layout, ranks: int) -> list[int]:
    """The size of the piece of each rank of a node: one piece per lane, and nothing for ranks without a lane.

    >>> lane_counts(Layout.nearly_equal(5, 2), 4)
    [3, 2, 0, 0]
    """
    return [pieces.size(index) if index < pieces.p else 0 for index in range(ranks)]


def placement_of(nodes: Nodes, p: int) -> Placement:
    """The placement of p ranks; the ranks of a process share one object."""
    return _placement_of(nodes if isinstance(nodes, int) else tuple(nodes), p)


@lru_cache(maxsize=64)
def _placement_of(nodes: Nodes, p: int) -> Placement:
    return Placement(nodes, p)


def _members(nodes: Nodes, p: int) -> list[list[int]]:
    members: dict[Hashable, list[int]] = {}
    for rank, name in enumerate([r // nodes for r in range(p)] if isinstance(nodes, int) else nodes):
        members.setdefault(name, []).append(rank)
    return list(members.values())


class Ranking:
    """The virtual ranking of p ranks on their nodes. O(p) memory.

    >>> ranking = Ranking(["a", "b", "a", "c", "b"], 5)
    >>> ranking.order, ranking.position, ranking.first, ranking.last
    ([0, 2, 1, 4, 3], [0, 2, 1, 4, 3], [0, 0, 2, 2, 4], [1, 1, 3, 3, 4])
    >>> Ranking(3, 5).first
    [0, 0, 0, 3, 3]
    """

    __slots__ = ("first", "last", "order", "position")

    def __init__(self, nodes: Nodes, p: int) -> None:
        self.order: list[int] = []
        """The rank at each position of the ring."""
        self.first: list[int] = []
        """For each position, the first position of its node."""
        self.last: list[int] = []
        """For each position, the last position of its node."""
        for ranks in _members(nodes, p):
            begin = len(self.order)
            self.order += ranks
            self.first += [begin] * len(ranks)
            self.last += [begin + len(ranks) - 1] * len(ranks)
        self.position = [0] * p
        """The position of each rank."""
        for position, rank in enumerate(self.order):
            self.position[rank] = position
