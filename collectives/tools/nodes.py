"""Which ranks share a node, and the ring through all of them that leaves each node once.

The virtual ranking: nodes in the order of their first ranks, and the ranks of a node one after the other, in rank order. On
the ring of virtual ranks only the last of a node sends off its node, and only the first receives from outside.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

Nodes: TypeAlias = int | Sequence[Hashable]
"""So many ranks on each node, in rank order (the last node may have fewer); or the node of each rank, by any name."""


def misfit_of_nodes(nodes: Nodes, p: int) -> str | None:
    """Why `nodes` cannot say where p ranks are."""
    if isinstance(nodes, int):
        return None if nodes > 0 else f"nodes = {nodes} ranks a node is not positive"
    return None if len(nodes) == p else f"nodes names the nodes of {len(nodes)} ranks, and p = {p}"


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
        names = [r // nodes for r in range(p)] if isinstance(nodes, int) else nodes
        members: dict[Hashable, list[int]] = {}
        for rank, name in enumerate(names):
            members.setdefault(name, []).append(rank)
        self.order: list[int] = []
        """The rank at each place of the ring."""
        self.first: list[int] = []
        """For each place, where its node begins."""
        self.last: list[int] = []
        """For each place, the last place of its node."""
        for ranks in members.values():
            begin = len(self.order)
            self.order += ranks
            self.first += [begin] * len(ranks)
            self.last += [begin + len(ranks) - 1] * len(ranks)
        self.position = [0] * p
        """The place of each rank."""
        for place, rank in enumerate(self.order):
            self.position[rank] = place
