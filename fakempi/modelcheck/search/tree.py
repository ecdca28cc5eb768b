"""The tree of runs: nodes are states in which a choice was made, edges are the options taken or to be taken.

Sleep sets: if a node has two edges, the earlier edge is in the sleep set of the subtree of the later one. Schedules that
begin with the earlier edge are explored in its own subtree. They are not repeated in the other subtree as long as the two
choices are independent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fakempi.modelcheck.steering.state_hash import digest

EMPTY_SET: frozenset[Any] = frozenset()
EMPTY_MAP: Mapping[int, list[int]] = {}
"""Empty values that most nodes share, to save memory: a tree may have many nodes."""


class SearchNode:
    """A state with a choice: the keys of its options, and the sleep set."""

    __slots__ = (
        "before", "branch", "digest", "distinguished", "edges", "equivalent", "events_after", "excluded", "keys",
        "merged_runs", "sleep",
    )  # fmt: skip

    def __init__(self, keys: list[Any], before: Edge | None, sleep: frozenset[Any], branch: Branch) -> None:
        self.keys = keys
        self.before, self.sleep, self.branch = before, sleep, branch
        self.edges: dict[int, Edge] = {}  # in insertion order
        self.excluded: dict[int, float] = {}  # options that the bound on polling excludes, and their number of polls
        self.equivalent: Mapping[int, list[int]] = EMPTY_MAP  # options that receive byte-identical messages
        self.distinguished: frozenset[tuple[int, int]] = EMPTY_SET  # pairs of them that the program can distinguish
        self.events_after: frozenset[Any] = EMPTY_SET  # events after this node, in any run
        self.merged_runs: tuple[Any, ...] = ()  # runs that reached the same state on other paths
        self.digest: int | None = None  # of the options on the path; see `path_digest`

    def add(self, index: int) -> Edge | None:
        """Add an edge to explore; return None if it exists, is in the sleep set, or is excluded by the bound on polling."""
        if index in self.edges or index in self.excluded or self.keys[index] in self.sleep:
            return None
        edge = self.edges[index] = Edge(self, index, [self.keys[other] for other in self.edges])
        return edge

    def add_point(self, index: int) -> list[Edge]:
        """Add all edges of an option's point."""
        added = (self.add(i) for i, (point, _) in enumerate(self.keys) if point == self.keys[index][0])
        return [edge for edge in added if edge is not None]

    def add_all(self) -> list[Edge]:
        """Add all edges."""
        return [edge for edge in map(self.add, range(len(self.keys))) if edge is not None]

    def has_all(self) -> bool:
        """Whether no edge is missing except those that the bound on polling excludes."""
        return all(i in self.edges or i in self.excluded or key in self.sleep for i, key in enumerate(self.keys))

    def allow(self, index: int) -> Edge | None:
        """Stop excluding an option; return its edge if the other options of its point are explored."""
        point = self.keys[index][0]
        wanted = self.has_all() or any(self.keys[i][0] == point for i in self.edges)
        del self.excluded[index]
        return self.add(index) if wanted else None

    def first(self) -> int | None:
        """Return the first option that is not excluded and not in the sleep set."""
        return next((i for i, key in enumerate(self.keys) if key not in self.sleep and i not in self.excluded), None)


class Edge:
    """An option taken, or to be taken, at a node."""

    __slots__ = ("earlier", "index", "late_candidates", "node", "siblings", "tried")

    def __init__(self, node: SearchNode, index: int, earlier: list[Any]) -> None:
        self.node, self.index, self.earlier = node, index, earlier
        self.tried = False
        self.siblings: list[tuple[Branch, frozenset[Any]]] | None = None  # once they are known
        self.late_candidates: Any = True  # values that may arrive too late for it; see `Point.late_candidates`

    @property
    def key(self) -> Any:
        """The option's key, which is the same in every run."""
        return self.node.keys[self.index]

    def sleep(self) -> frozenset[Any]:
        """Return the sleep set after this edge: the node's sleep set and earlier edges, except edges of the same point."""
        point = self.key[0]
        return frozenset(key for key in (*self.node.sleep, *self.earlier) if key[0] != point) or EMPTY_SET

    def find_siblings(self) -> list[tuple[Branch, frozenset[Any]]]:
        """Return the branches on the path that deviate in a value, each with the deviations that end with this edge instead.

        There are none if the edge precedes the edge of another point, because then it affects both points.
        """
        branch, first = self.node.branch, next(iter(self.node.edges.values()))
        if first.key[0] != self.key[0]:
            return []
        return [(each, (branch.deviations - {each.deviation}) | {self.key}) for each in branch.path if each.same_point]

    def path(self) -> list[Edge]:
        """Return the edges from the root to this one."""
        return [*edges_to_root(self)][::-1]


class Branch:
    """A run that deviates from another one, and all runs that deviate from it in turn.

    `deviations` are the keys of the options that deviate, `deviation` is the last one. `influence` maps each point to the
    processes, as bits, that it may have influenced in any run of the branch.
    """

    __slots__ = ("deviation", "deviations", "followers", "influence", "parent", "path", "same_point")

    def __init__(self, parent: Branch | None, edge: Edge | None) -> None:
        self.parent = parent
        self.deviations: frozenset[Any] = frozenset() if parent is None or edge is None else parent.deviations | {edge.key}
        self.deviation: Any = None if edge is None else edge.key
        first = None if edge is None else next(iter(edge.node.edges.values()))
        # whether the branch deviates only in the value that a point takes, not in the order of points
        self.same_point = edge is not None and first is not None and first.key[0] == edge.key[0]
        self.path: tuple[Branch, ...] = () if parent is None else (*parent.path, self)
        self.influence: dict[Any, int] = {}
        self.followers: list[Branch] = []  # branches that reached a state of this one

    def note(self, reach: Iterable[tuple[Any, int]]) -> None:
        """Add the influence of a run's points, and propagate new parts to parents and followers."""
        waiting: list[tuple[Branch, list[tuple[Any, int]]]] = [(self, list(reach))]
        while waiting:
            branch, reached = waiting.pop()
            new = [(point, processes) for point, processes in reached if processes & ~branch.influence.get(point, 0)]
            for point, processes in new:
                branch.influence[point] = branch.influence.get(point, 0) | processes
            if new:
                waiting += [(related, new) for related in (branch.parent, *branch.followers) if related is not None]


def path_digest(node: SearchNode | None) -> int:
    """Return a digest of the options at all nodes from the root to this one; it is the same in every process."""
    undigested: list[SearchNode] = []
    while node is not None and node.digest is None:
        undigested.append(node)
        node = None if node.before is None else node.before.node
    value = 0 if node is None or node.digest is None else node.digest
    for each in reversed(undigested):
        each.digest = value = digest(value, tuple(each.keys))
    return value


def deviation_span(edge: Edge) -> int:
    """Return the number of choices between the first deviation on the path and this edge."""
    choices = [step for step in edge.path() if len(step.node.keys) > 1]
    first = next((i for i, step in enumerate(choices) if step is not next(iter(step.node.edges.values()))), len(choices) - 1)
    return len(choices) - 1 - first


def weight(edges: Iterable[Edge]) -> float:
    """Return the fraction of the tree that ends at these edges, if all edges of a node have subtrees of equal size."""
    return sum(_share(edge) for edge in edges)


def _share(edge: Edge) -> float:
    share = 1.0
    for step in edges_to_root(edge):
        share /= len(step.node.edges)
    return share


def edges_to_root(edge: Edge | None) -> Iterator[Edge]:
    """Yield the edges from this one to the root."""
    while edge is not None:
        yield edge
        edge = edge.node.before
