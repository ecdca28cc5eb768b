"""Depth-first search over one mode's tree of runs, fewest deviations first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush, nsmallest
from itertools import count
from math import inf
from typing import Any

from fakempi.modelcheck.search.equivalence import are_independent
from fakempi.modelcheck.search.jobs import JobResult, SearchJob
from fakempi.modelcheck.search.races import backtracking_edges
from fakempi.modelcheck.search.rank_output import RankOutput
from fakempi.modelcheck.search.records import Attempt, NewChoice, RunRecord, SearchChoices, record_of
from fakempi.modelcheck.search.shared_objects import CHANGED, ComparedAtWaits, SharedObjects
from fakempi.modelcheck.search.states import MergedRun, States
from fakempi.modelcheck.search.tree import (
    EMPTY_MAP,
    EMPTY_SET,
    Branch,
    Edge,
    SearchNode,
    deviation_span,
    edges_to_root,
    path_digest,
    weight,
)
from fakempi.modelcheck.search.trial import StopRun, TrialRun
from fakempi.modelcheck.steering.choices import POLL_BOUND, Choices, Option
from fakempi.modelcheck.steering.token import LibraryMode


class PathChoices(SearchChoices):
    """Follow a path of the tree; at its end, take the first option that is not in the sleep set."""

    def __init__(self, tree: SearchTree, path: list[Edge]) -> None:
        super().__init__(tree.mode, tree.polls, tree.merges)
        self.tree, self.path = tree, path
        self.nodes: list[SearchNode] = []
        self.before: Edge | None = None
        self.nondeterministic = False  # whether the program did not repeat its path
        self.known: SearchNode | None = None  # the node of this state, if its continuation is explored from there

    def steer(self, universe: Any) -> None:
        """Take control of a run before it starts; in the first run, compare shared objects whenever a rank waits."""
        super().steer(universe)
        tree = self.tree
        if tree.reduce and tree.shared is not None and tree.shared.is_first_run():
            universe.loop.subscribe(ComparedAtWaits(tree.shared, lambda: self.untracked_effects.add(CHANGED)))

    def chosen(self, options: list[Option]) -> int | None:
        """Return the option of the path's next edge, or of a new edge."""
        at, keys = len(self.nodes), [option.key for option in options]
        if self.before is not None and self.before.late_candidates is True and len(self.steps) == at:
            self.before.late_candidates = self.steps[-1].taken.point.late_candidates()
        if at < len(self.path):
            edge: Edge | None = self.path[at]
            assert edge is not None
            if edge.node.keys != keys:
                self.nondeterministic = True
                edge = None
        else:
            edge = self._new(options, keys)
        if edge is None:
            self.universe.end(StopRun())
            return None
        self.nodes.append(edge.node)
        self.before = edge
        return edge.index

    def _new(self, options: list[Option], keys: list[Any]) -> Edge | None:
        tree = self.tree
        node = tree.new_node(keys, self.excluded, self.before)
        described = tree.reduce and node.first() is not None
        choice = self.describe(options, keys, tree.shared, tree.output) if described else NewChoice(keys, self.excluded)
        edge, self.known = tree.extend(node, choice)
        return edge


class SearchTree:
    """All runs in one mode. Edges to be explored wait in a heap, fewest deviations first."""

    def __init__(
        self, mode: LibraryMode, run: Callable[[Choices], Any], reduce: bool, shared: SharedObjects | None,
        mixing_bound: int | None,
    ) -> None:  # fmt: skip
        self.mode, self.run, self.reduce = mode, run, reduce
        self.mode_penalty = (mode.buffering == "size") + mode.synchronizing + mode.late  # modes that count as deviations
        self.mixing_bound = mixing_bound  # the maximum number of choices between the first and the last deviation
        self.beyond_mixing_bound = False  # whether some edges exceed the mixing bound
        self.shared = shared
        self.merges = reduce and shared is not None  # whether a run ends in a known state
        self.output = RankOutput()  # output of the current run, if recorded
        self.states = States()
        self.unknown: set[str] = set()  # reasons why runs do not end in known states
        self.merged = 0  # runs that ended in a known state
        self.mixes = False  # bounded mixing: deviations close to the first one have priority
        self.bound = 0  # the largest distance between deviations so far, in bounded mixing
        self.waiting: list[tuple[tuple[int, ...], int, Edge]] = []
        self.unexplored: set[str] = set()
        self.stable_names = True
        self.polls = POLL_BOUND  # how many times in a row a test may report "not yet"
        self.poll_excluded: list[tuple[SearchNode, int]] = []  # options that this bound excludes
        self.unfair = self.nondeterministic = self.begun = False
        self.untracked_effects: set[str] = set()  # reasons why reductions are off
        self.branch = Branch(None, None)
        self._numbers = count()
        self._branches: dict[frozenset[Any], Branch | None] = {}  # by deviations; None if there are several
        self._skipped: list[tuple[tuple[int, ...], int, Edge]] = []
        self._ends: list[Edge] = []
        self.answered: Callable[[SearchTree, Edge | None], JobResult | None] = lambda tree, edge: None  # the run of a worker

    def push(self, edges: Iterable[Edge]) -> None:
        """Queue edges to be explored."""
        for edge in edges:
            if self.mixing_bound is not None and deviation_span(edge) > self.mixing_bound:
                self.beyond_mixing_bound = True
            else:
                heappush(self.waiting, (self._rank(edge), next(self._numbers), edge))

    @property
    def is_shared(self) -> bool:
        """Whether ranks share objects that change: later runs depend on earlier ones, which must be in the same process."""
        return self.shared is not None and bool(self.shared.why)

    def exclude_polls(self, node: SearchNode) -> None:
        """Record the options that the bound on polling excludes at a new node."""
        for index, times in node.excluded.items():
            if times == inf:
                self.unfair = True
            else:
                self.poll_excluded.append((node, index))

    def deepen(self, polls: int) -> None:
        """Raise the bound on polling, and queue the options that it excluded."""
        self.polls = polls
        allowed = [(node, index) for node, index in self.poll_excluded if node.excluded[index] < polls]
        self.poll_excluded = [(node, index) for node, index in self.poll_excluded if node.excluded[index] >= polls]
        edges = [node.allow(index) for node, index in allowed]
        self.push([edge for edge in edges if edge is not None])

    def _rank(self, edge: Edge) -> tuple[int, ...]:
        deviations = len(edge.node.branch.deviations) + 1
        return (deviation_span(edge), deviations) if self.mixes else (deviations,)

    def mix(self) -> None:
        """Give priority to deviations close to the first one from now on: bounded mixing, with a growing bound."""
        self.mixes = True
        self.waiting = [(self._rank(edge), number, edge) for _, number, edge in self.waiting]
        self._skipped = [(self._rank(edge), number, edge) for _, number, edge in self._skipped]
        heapify(self.waiting)

    def trial(self) -> Attempt | None:
        """Run the next schedule; the run may have `ended_early`. Return None if the tree is exhausted."""
        if not self.begun:
            self.begun = True
            return self._try(None)
        while self.waiting or self._requeue_skipped():
            item = heappop(self.waiting)
            if not self._is_redundant(item[2]):
                if self.mixes:
                    self.bound = max(self.bound, item[0][0])
                return self._try(item[2])
            self._skipped.append(item)
        return None

    def remaining(self) -> int:
        """Return the number of known edges that are still to be explored."""
        spared = [item for item in self.waiting if self._is_redundant(item[2])]
        if spared:
            self._skipped += spared
            self.waiting = [item for item in self.waiting if item not in spared]
            heapify(self.waiting)
        return len(self.waiting)

    @property
    def next_rank(self) -> tuple[int, ...]:
        """The priority of the next run: its number of deviations, preceded in bounded mixing by their distance."""
        first, *others = self.waiting[0][0] if self.waiting else (0,)
        return first + self.mode_penalty, *others

    @property
    def done(self) -> float:
        """The explored fraction of the tree, estimated as if all edges of a node had subtrees of equal size."""
        return weight([*self._ends, *(edge for _, _, edge in self._skipped)])

    def _is_redundant(self, edge: Edge) -> bool:
        node = edge.node
        for i in node.equivalent.get(edge.index, ()):
            if i in node.edges and node.edges[i].tried and (i, edge.index) not in node.distinguished:
                return True
        return self.reduce and self.stable_names and are_independent(edge, self._branches)

    def _requeue_skipped(self) -> bool:
        """Queue skipped edges that are no longer redundant; return whether there are any."""
        again = [item for item in self._skipped if not self._is_redundant(item[2])]
        self._skipped = [item for item in self._skipped if item not in again]
        for item in again:
            heappush(self.waiting, item)
        return bool(again)

    def _try(self, edge: Edge | None) -> Attempt:
        self.branch = branch = Branch(None, None) if edge is None else Branch(edge.node.branch, edge)
        if edge is not None:
            edge.tried = True
            self._branches[branch.deviations] = None if branch.deviations in self._branches else branch
        attempt, edges, known = self._run(edge)
        record, nodes = attempt.record, [each.node for each in edges]
        if self.reduce and record.untracked_effects:
            self._disable_reduction(record, nodes)
            if edge is not None:
                self.begun, self.waiting, self._skipped, self._ends = False, [], [], []
                self._branches, self.poll_excluded = {}, []
                return attempt  # the search restarts without reductions
        self.unexplored |= record.unexplored
        self.stable_names &= not record.unstable_names
        branch.note(record.influence)
        for k, other in record.distinguished:
            nodes[k].distinguished |= {(record.steps[k].taken_index, other)}
        self.push(backtracking_edges(record.steps, nodes, not self.reduce or record.cut_off))
        if self.merges and record.events is not None:
            self._merge(record, edges, known)
        if edges:
            self._ends.append(edges[-1])
        return attempt

    def _run(self, edge: Edge | None) -> tuple[Attempt, list[Edge], SearchNode | None]:
        """Run the schedule that begins with the path to an edge; return it with its edges, and the known node at its end.

        If a worker has run the schedule already, replay its record; from the first choice at which the record does not
        agree with the tree, continue with a run in this process.
        """
        path = [] if edge is None else edge.path()
        answer = self.answered(self, edge)
        if answer is not None:
            path, known, agrees = self.replay(answer, path)
            if agrees:
                return Attempt(answer.record, None, answer.outcome), path, known
        choices = PathChoices(self, path)
        trial = TrialRun(choices, self.run)
        self.nondeterministic |= choices.nondeterministic
        if self.reduce and self.shared is not None and self.shared.changed(ended=True):
            choices.untracked_effects.add(CHANGED)
        reduces = self.reduce and not choices.untracked_effects
        pairs = equivalent_options(choices.nodes, [step.taken_index for step in choices.steps]) if reduces else {}
        edges = [*edges_to_root(choices.before)][::-1]
        return Attempt(record_of(trial, pairs, reduces), trial, None), edges, choices.known

    def new_node(self, keys: list[Any], excluded: dict[int, float], before: Edge | None) -> SearchNode:
        """Return a node for the choice after an edge; it is not yet part of the tree."""
        asleep = before.sleep() if before is not None and self.reduce else EMPTY_SET
        node = SearchNode(keys, before, asleep, self.branch)
        node.excluded = excluded
        return node

    def extend(self, node: SearchNode, choice: NewChoice) -> tuple[Edge | None, SearchNode | None]:
        """Add a node to the tree and return the edge to take.

        If all options are in the sleep set, or the state is known, there is none; in the second case the known node is
        returned.
        """
        index = node.first()
        if index is None:
            self.exclude_polls(node)
            return None, None
        node.equivalent = choice.equivalent
        if choice.state is not None:
            known = None if node.before is None else self.states.find(choice.state, node.sleep, node.before)
            if known is not None:
                return None, known
            self.states.add(choice.state, node)
        self.exclude_polls(node)
        edge = node.add(index)
        assert edge is not None
        edge.tried = True
        self.push(node.add_point(index))
        return edge, None

    def replay(self, answer: JobResult, path: list[Edge]) -> tuple[list[Edge], SearchNode | None, bool]:
        """Add the choices of a worker's run to the tree, as if the run took place now.

        Return the edges of the run, the known node at which it ends, and whether the record agrees with the tree up to the
        end of the run.
        """
        edges, made = list(path), len(answer.record.steps)
        if answer.path_digest != path_digest(edges[-1].node if edges else None):
            return edges, None, False
        for choice, late_candidates in zip(answer.new, answer.late_candidates, strict=True):
            before = edges[-1] if edges else None
            if before is not None and before.late_candidates is True:
                before.late_candidates = late_candidates
            edge, known = self.extend(self.new_node(choice.keys, choice.excluded, before), choice)
            ended = len(edges) == made  # on the worker
            if edge is None:
                return edges, known, ended
            edges.append(edge)
            if ended:
                return edges, None, False
        return edges, None, True

    def job(self, edge: Edge | None) -> SearchJob:
        """Return the job for a worker: run the schedule that begins with the path to an edge."""
        path = [] if edge is None else edge.path()
        indices = tuple(each.index for each in path)
        pairs = equivalent_options([each.node for each in path], indices) if self.reduce else {}
        asleep = edge.sleep() if edge is not None and self.reduce else EMPTY_SET
        return SearchJob(self.mode, self.polls, self.reduce, self.merges, indices, asleep, pairs)

    def upcoming(self, count: int) -> list[tuple[tuple[int, ...], Edge | None]]:
        """Return the next edges with their priorities, as far as they are known; None is the first run."""
        if not self.begun:
            return [(self.next_rank, None)]
        first = nsmallest(count, self.waiting)
        return [((rank[0] + self.mode_penalty, *rank[1:]), edge) for rank, _, edge in first if not self._is_redundant(edge)]

    def _disable_reduction(self, record: RunRecord, nodes: list[SearchNode]) -> None:
        """Turn reductions off after a run with window locks, atomic operations or a shared file pointer.

        Other ranks observe the effects of these in memory, which is not tracked, and shared locks are granted together:
        reduced searches missed outcomes in one of some hundred random programs.
        """
        self.reduce = self.merges = False
        self.untracked_effects, self.states = record.untracked_effects, States()
        for node in nodes:
            node.equivalent = EMPTY_MAP

    def _merge(self, record: RunRecord, edges: list[Edge], known: SearchNode | None) -> None:
        """Queue edges that runs which ended in known states require, or these runs themselves if states are unknown."""
        assert record.events is not None
        if record.unknown:
            self.merges, self.unknown = False, record.unknown
            self.push([merged_run.edge for merged_run in self.states.merged_runs])
            self.states = States()
            return
        self.push(self.states.record_run(record.events, [edge.node for edge in edges]))
        if known is not None and edges:
            self.merged += 1
            self.push(self.states.record_merged_run(known, MergedRun(edges[-1], self.branch, record.influence)))


def equivalent_options(nodes: Sequence[SearchNode], taken: Sequence[int]) -> dict[int, list[int]]:
    """Return, for each step, the options with messages equivalent to the one taken that no run has distinguished yet."""
    found = {}
    for k, (node, which) in enumerate(zip(nodes, taken, strict=False)):
        others = [other for other in node.equivalent.get(which, ()) if (which, other) not in node.distinguished]
        if others:
            found[k] = others
    return found
