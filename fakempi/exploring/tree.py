"""The tree of runs: its nodes are the states in which something was chosen, its edges what was, or is to be.

An edge that is at a node before another is in the other's sleep: what begins with it is not tried again behind the other,
as long as the two do not concern each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

NOTHING: frozenset[Any] = frozenset()
NONE: Mapping[int, list[int]] = {}
"""What most nodes have, and so they share it: there may be many."""


class Node:
    """A state in which nothing can happen but what is open: by which keys, of which points, and which of them sleep."""

    __slots__ = ("ahead", "alike", "before", "branch", "edges", "keys", "refused", "sleep", "twins")

    def __init__(self, keys: list[Any], before: Edge | None, sleep: frozenset[Any], branch: Branch) -> None:
        self.keys = keys
        self.before, self.sleep, self.branch = before, sleep, branch
        self.edges: dict[int, Edge] = {}  # in the order in which they were added
        self.alike: Mapping[int, list[int]] = NONE  # messages that are equal to the byte
        self.refused: frozenset[tuple[int, int]] = NOTHING  # those of them that the program can tell apart
        self.ahead: frozenset[Any] = NOTHING  # what happens behind it, in any run
        self.twins: tuple[Any, ...] = ()  # runs that came to the same state by other ways

    def add(self, index: int) -> Edge | None:
        """An edge that is to be tried; None if there is one, or it sleeps."""
        if index in self.edges or self.keys[index] in self.sleep:
            return None
        edge = self.edges[index] = Edge(self, index, [self.keys[other] for other in self.edges])
        return edge

    def add_point(self, index: int) -> list[Edge]:
        """All edges of an option's point."""
        added = (self.add(i) for i, (point, _) in enumerate(self.keys) if point == self.keys[index][0])
        return [edge for edge in added if edge is not None]

    def add_all(self) -> list[Edge]:
        """All edges."""
        return [edge for edge in map(self.add, range(len(self.keys))) if edge is not None]

    def has_all(self) -> bool:
        """Whether no edge is missing."""
        return all(i in self.edges or key in self.sleep for i, key in enumerate(self.keys))

    def first(self) -> int | None:
        """The first option that does not sleep."""
        return next((i for i, key in enumerate(self.keys) if key not in self.sleep), None)


class Edge:
    """What is done at a node."""

    __slots__ = ("earlier", "index", "lacks", "node", "tried")

    def __init__(self, node: Node, index: int, earlier: list[Any]) -> None:
        self.node, self.index, self.earlier = node, index, earlier
        self.tried = False
        self.lacks: Any = True  # what may come too late for it

    @property
    def key(self) -> Any:
        """Who it is in every run."""
        return self.node.keys[self.index]

    def sleep(self) -> frozenset[Any]:
        """What sleeps behind it: what slept before, and what is tried before it, but for its own point."""
        point = self.key[0]
        return frozenset(key for key in (*self.node.sleep, *self.earlier) if key[0] != point) or NOTHING

    def path(self) -> list[Edge]:
        """From the root to here."""
        return [*upwards(self)][::-1]


class Branch:
    """A run that was begun by leaving another one's way, and all that leave its own.

    `reach` says, for each point, which processes it may have had an influence on, in any run of the branch.
    """

    __slots__ = ("followers", "left", "parent", "pure", "reach", "ways")

    def __init__(self, parent: Branch | None, edge: Edge | None) -> None:
        self.parent = parent
        self.ways: frozenset[Any] = frozenset() if parent is None or edge is None else parent.ways | {edge.key}
        first = None if edge is None else next(iter(edge.node.edges.values()))
        self.pure = edge is not None and first is not None and first.key[0] == edge.key[0]
        self.left: tuple[Branch, ...] = () if parent is None else (*parent.left, self)
        self.reach: dict[Any, int] = {}
        self.followers: list[Branch] = []  # that came to a state of this one

    def note(self, reach: Iterable[tuple[Any, int]]) -> None:
        """What the points of a run had an influence on. Who hears of it from here knows already what is not new here."""
        waiting: list[tuple[Branch, list[tuple[Any, int]]]] = [(self, list(reach))]
        while waiting:
            branch, noted = waiting.pop()
            new = [(point, also) for point, also in noted if also & ~branch.reach.get(point, 0)]
            for point, also in new:
                branch.reach[point] = branch.reach.get(point, 0) | also
            if new:
                waiting += [(one, new) for one in (branch.parent, *branch.followers) if one is not None]


def span(edge: Edge) -> int:
    """How many choices lie between the first deviation on the way here and this one."""
    choices = [step for step in edge.path() if len(step.node.keys) > 1]
    first = next((i for i, step in enumerate(choices) if step is not next(iter(step.node.edges.values()))), len(choices) - 1)
    return len(choices) - 1 - first


def weight(edges: Iterable[Edge]) -> float:
    """How much of the tree ends there, if all edges of a node lead to as much."""
    return sum(_share(edge) for edge in edges)


def _share(edge: Edge) -> float:
    share = 1.0
    for step in upwards(edge):
        share /= len(step.node.edges)
    return share


def upwards(edge: Edge | None) -> Iterator[Edge]:
    """From an edge to the root."""
    while edge is not None:
        yield edge
        edge = edge.node.before
