"""States that are known: what would begin in one of them is not run again.

Where all that ranks were told is equal (choices/told.py), so are the futures. A run that comes to such a state by another
way ends there: a node of the tree has what follows, or will have it. Three things have to be true nevertheless.

* What sleeps at that node must sleep here, too, or it would be tried nowhere.
* What follows may race with choices that were made on the way here. Whatever happens behind a node is kept at it (`ahead`),
  and handed to all who have ended there, also when more of it comes to be known. On what it would hang here is not known.
  So where a message of that kind may have come too late for a choice, everything is tried in that choice's place.
* Choices on the way here may have an influence that nobody sees here: on all who hear of those whom they had reached.

If a run shows that ranks learn by ways of which nobody keeps account, no run ends like this any more, and those that did are
tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fakempi.choices.choices import Choices
from fakempi.choices.told import EVERYBODY, Event
from fakempi.exploring.tree import NOTHING, Branch, Edge, Node, upwards

Events = frozenset[Event]


class Twin:
    """A run that ended in a known state: its last edge, its branch, and whom its choices had reached by then."""

    __slots__ = ("branch", "edge", "reach")

    def __init__(self, edge: Edge, branch: Branch, reach: list[tuple[Any, int]]) -> None:
        self.edge, self.branch, self.reach = edge, branch, reach


class States:
    """Of one tree: nodes by their states, and who has ended there."""

    def __init__(self) -> None:
        self.nodes: dict[Any, list[Node]] = {}
        self.twins: list[Twin] = []

    def known(self, state: Any, sleep: frozenset[Any], before: Edge) -> Node | None:
        """A node of that state at which no more sleeps, if it costs nothing, as far as is known, to go no further."""
        for node in self.nodes.get(state, ()):
            if node.sleep <= sleep and not any(
                may_be_late(edge.lacks, node.ahead) and not edge.node.has_all() for edge in upwards(before)
            ):
                return node
        return None

    def add(self, state: Any, node: Node) -> None:
        """A node where something is tried."""
        self.nodes.setdefault(state, []).append(node)

    def ran(self, choices: Choices, nodes: list[Node]) -> Iterator[Edge]:
        """A run went by these nodes: what is to be tried because of those who have ended there."""
        assert choices.told is not None
        ahead: Events = NOTHING
        left = list(choices.told.events)
        for k in reversed(range(len(nodes))):
            new = set()
            while left and left[-1][0] > k:
                new.add(left.pop()[1])
            if not new <= ahead:
                ahead |= new
            yield from self._is_ahead(nodes[k], ahead)

    def joined(self, node: Node, twin: Twin) -> Iterator[Edge]:
        """A run has ended at a node that it did not make."""
        self.twins.append(twin)
        node.twins = (*node.twins, twin)
        node.branch.followers.append(twin.branch)
        twin.branch.note(node.branch.reach.items())
        yield from self._hears(twin, node.ahead, node.ahead)

    def _is_ahead(self, node: Node, events: Events) -> Iterator[Edge]:
        new = events - node.ahead
        if new:
            node.ahead = node.ahead | events if node.ahead - events else events
            for twin in node.twins:
                yield from self._hears(twin, new, node.ahead)

    def _hears(self, twin: Twin, new: Events, ahead: Events) -> Iterator[Edge]:
        twin.branch.note([(point, spread(reached, ahead)) for point, reached in twin.reach])
        for edge in upwards(twin.edge):
            if may_be_late(edge.lacks, new):
                yield from edge.node.add_all()
            yield from self._is_ahead(edge.node, new)


def may_be_late(lacks: Any, events: Iterable[Event]) -> bool:
    """Whether something of what happens may have come too late for a choice."""
    if lacks is None or lacks is True:
        return bool(lacks)
    process, source, tag, had = lacks
    for what, *where in events:
        if what == "came" and where[0] == process:
            fits = (source < 0 or source == where[1]) and (tag < 0 or tag == where[2])
            if fits and where[1] not in had:
                return True
    return False


def spread(processes: int, events: Events) -> int:
    """Processes, as bits, and all who may hear of them."""
    if EVERYBODY in events:
        return -1
    heard = [event[1:] for event in events if event[0] == "heard"]
    while True:
        more = processes
        for one, other in heard:
            if more >> one & 1:
                more |= 1 << other
        if more == processes:
            return processes
        processes = more
