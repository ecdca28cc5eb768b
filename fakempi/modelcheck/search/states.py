"""State hashing: a run that reaches a known state ends there.

If all ranks have received equal data in two runs (modelcheck/steering/state_hash.py), the runs continue equally. A run that
reaches a state that an earlier run reached on another path therefore ends, because the continuation is explored from the
node that reached the state first. Three rules make this correct:

* The sleep set of that node is a subset of the sleep set of the ended run. Otherwise some schedules would not be explored.
* The continuation may race with choices on the path of the ended run. Each node stores the events that happened after it, in
  any run (`events_after`). These events, and those added later, are also recorded for all runs that ended at the node. Their
  causal past on the other path is unknown. If one of them may be a message that arrived too late for a choice on that path,
  all options of that choice's node are explored.
* Choices on the path of the ended run may influence the continuation. They count as having influenced every process that
  communicates with an influenced process in the continuation.

If a run shows that ranks exchange information in an untracked way, runs no longer end in known states, and those that did
are run again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fakempi.modelcheck.search.tree import EMPTY_SET, Branch, Edge, SearchNode, edges_to_root
from fakempi.modelcheck.steering.state_hash import ALL_RANKS, Event

Events = frozenset[Event]


class MergedRun:
    """A run that ended in a known state: its last edge, its branch, and the processes its choices had influenced."""

    __slots__ = ("branch", "edge", "influence")

    def __init__(self, edge: Edge, branch: Branch, reach: list[tuple[Any, int]]) -> None:
        self.edge, self.branch, self.influence = edge, branch, reach


class States:
    """The nodes of one tree by state, and the runs that ended at them."""

    def __init__(self) -> None:
        self.nodes: dict[Any, list[SearchNode]] = {}
        self.merged_runs: list[MergedRun] = []
        self.order: list[tuple[Any, SearchNode]] = []  # states and nodes in the order in which they were added

    def find(self, state: Any, sleep: frozenset[Any], before: Edge) -> SearchNode | None:
        """Return a node with this state at which the run may end; None if there is none.

        The node's sleep set must be a subset of `sleep`, and no event after the node may race with a choice of the run.
        """
        for node in self.nodes.get(state, ()):
            if node.sleep <= sleep and not any(
                could_be_late(edge.late_candidates, node.events_after) and not edge.node.has_all()
                for edge in edges_to_root(before)
            ):
                return node
        return None

    def add(self, state: Any, node: SearchNode) -> None:
        """Add a new node."""
        self.nodes.setdefault(state, []).append(node)
        self.order.append((state, node))

    def record_run(self, events: Iterable[tuple[int, Event]], nodes: list[SearchNode]) -> Iterator[Edge]:
        """Record the events of a run at its nodes; yield edges to explore because of runs that ended at these nodes."""
        ahead: Events = EMPTY_SET
        remaining = list(events)
        for k in reversed(range(len(nodes))):
            new = set()
            while remaining and remaining[-1][0] > k:
                new.add(remaining.pop()[1])
            if not new <= ahead:
                ahead |= new
            yield from self._add_events(nodes[k], ahead)

    def record_merged_run(self, node: SearchNode, merged_run: MergedRun) -> Iterator[Edge]:
        """Record that a run ended at an existing node; yield edges to be explored because of it."""
        self.merged_runs.append(merged_run)
        node.merged_runs = (*node.merged_runs, merged_run)
        node.branch.followers.append(merged_run.branch)
        merged_run.branch.note(node.branch.influence.items())
        yield from self._update(merged_run, node.events_after, node.events_after)

    def _add_events(self, node: SearchNode, events: Events) -> Iterator[Edge]:
        new = events - node.events_after
        if new:
            node.events_after = node.events_after | events if node.events_after - events else events
            for merged_run in node.merged_runs:
                yield from self._update(merged_run, new, node.events_after)

    def _update(self, merged_run: MergedRun, new: Events, ahead: Events) -> Iterator[Edge]:
        merged_run.branch.note([(point, spread(reached, ahead)) for point, reached in merged_run.influence])
        for edge in edges_to_root(merged_run.edge):
            if could_be_late(edge.late_candidates, new):
                yield from edge.node.add_all()
            yield from self._add_events(edge.node, new)


def could_be_late(candidates: Any, events: Iterable[Event]) -> bool:
    """Whether one of the events may be a message that was too late for a choice; see `Point.late_candidates`."""
    if candidates is None or candidates is True:
        return bool(candidates)
    process, source, tag, earlier_sources = candidates
    for event, *where in events:
        if event == "arrived" and where[0] == process:
            matches = (source < 0 or source == where[1]) and (tag < 0 or tag == where[2])
            if matches and where[1] not in earlier_sources:
                return True
    return False


def spread(processes: int, events: Events) -> int:
    """Return the processes, as bits, and all processes that may learn from them."""
    if ALL_RANKS in events:
        return -1
    informed = [event[1:] for event in events if event[0] == "informed"]
    while True:
        more = processes
        for sender, receiver in informed:
            if more >> sender & 1:
                more |= 1 << receiver
        if more == processes:
            return processes
        processes = more
