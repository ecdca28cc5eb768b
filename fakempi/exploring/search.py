"""The search: runs along a tree, the simplest deviations first; and by chance, when all are too many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from random import Random
from typing import Any

from fakempi.choices.choices import Choices, Option
from fakempi.choices.token import write
from fakempi.choices.told import Told, mark
from fakempi.errors import RunError
from fakempi.exploring.alike import alike, never_meets, told_apart
from fakempi.exploring.races import to_be_tried
from fakempi.exploring.shared import Shared
from fakempi.exploring.states import States, Twin
from fakempi.exploring.tree import NONE, NOTHING, Branch, Edge, Node, span, weight
from fakempi.wire.envelope import Envelope


class Enough(BaseException):
    """Ends a run of which the rest is tried elsewhere, or that is another one than before."""


class Trial:
    """A run that was tried: its choices, and what it returned or raised."""

    def __init__(self, choices: Choices, run: Callable[[Choices], Any]) -> None:
        self.choices = choices
        self.result: Any = None
        self.error: RunError | None = None
        self.ended_early = False
        try:
            self.result = run(choices)
        except RunError as error:
            self.error = error
        except Enough:
            self.ended_early = True

    @property
    def cut_off(self) -> bool:
        """Whether it was ended while ranks had something to do, and not because the rest is tried elsewhere."""
        return self.choices.cut_off and not self.ended_early

    @property
    def decisions(self) -> list[int]:
        """The choices that had several options, until a rank failed."""
        steps = self.choices.steps[: self.choices.at_failure]
        return [step.which for step in steps if len(step.options) > 1]

    @property
    def token(self) -> str:
        """The schedule as text."""
        return write(self.choices.buffering, self.decisions)


class Guided(Choices):
    """Goes along a path of the tree, and from its end takes what comes first and is not tried elsewhere."""

    goes_on = True

    def __init__(self, tree: Tree, path: list[Edge]) -> None:
        super().__init__(tree.buffering)
        self.tree, self.path = tree, path
        self.nodes: list[Node] = []
        self.before: Edge | None = None
        self.strange = False  # whether the program did something else than the last time
        self.known: Node | None = None  # a state in which all that would follow is tried already
        if tree.merges:
            self.told = Told()

    def chosen(self, options: list[Option]) -> int | None:
        """The next edge of the path, or a new one."""
        at, keys = len(self.nodes), [option.key for option in options]
        self._keep()
        if at < len(self.path):
            edge: Edge | None = self.path[at]
            assert edge is not None
            if edge.node.keys != keys:
                self.strange = True
                edge = None
        else:
            edge = self._new(options, keys)
        if edge is None:
            self.universe.end(Enough())
            return None
        self.nodes.append(edge.node)
        self.before = edge
        return edge.index

    def _keep(self) -> None:
        """What may come too late for the choice before, now that it is made."""
        if self.before is not None and self.before.lacks is True and len(self.steps) == len(self.nodes):
            self.before.lacks = self.steps[-1].taken.point.lacks()

    def _new(self, options: list[Option], keys: list[Any]) -> Edge | None:
        before = self.before
        asleep = before.sleep() if before is not None and self.tree.reduce else NOTHING
        node = Node(keys, before, asleep, self.tree.branch)
        index = node.first()
        if index is None:
            return None
        if self.tree.reduce:
            node.alike = alike(options) or NONE
            if self.tree.shared is not None and self.tree.shared.changed():
                self.not_told("objects that all ranks can change")
            state = self.state()
            if state is not None:
                state = mark(state, frozenset(keys))
                if before is not None:
                    self.known = self.tree.states.known(state, asleep, before)
                if self.known is not None:
                    return None
                self.tree.states.add(state, node)
        edge = node.add(index)
        assert edge is not None
        edge.tried = True
        self.tree.push(node.add_point(index))
        return edge


class Tree:
    """All runs with one kind of buffering. Edges that are to be tried wait in a heap, those with few deviations first."""

    def __init__(
        self, buffering: str, run: Callable[[Choices], Any], reduce: bool, shared: Shared | None, most: int | None
    ) -> None:  # fmt: skip
        self.buffering, self.run, self.reduce = buffering, run, reduce
        self.most = most  # choices between the first deviation and the last, if there is a bound
        self.beyond = False  # whether there are deviations that are further apart
        self.shared = shared
        self.merges = reduce and shared is not None  # whether a run ends in a state that is known
        self.states = States()
        self.unknown: set[str] = set()  # why it does not
        self.merged = 0  # runs that did
        self.mixes = False  # whether what deviates near its first deviation comes first
        self.bound = 0  # how far from it that was so far, then
        self.waiting: list[tuple[tuple[int, ...], int, Edge]] = []
        self.left_out: set[str] = set()
        self.steady = True
        self.bounded = self.strange = self.begun = False
        self.unseen: set[str] = set()  # because of which nothing is left out
        self.branch = Branch(None, None)
        self._numbers = count()
        self._branches: dict[frozenset[Any], Branch | None] = {}  # None if there are several
        self._spared: list[tuple[tuple[int, ...], int, Edge]] = []
        self._ends: list[Edge] = []

    def push(self, edges: Iterable[Edge]) -> None:
        """These are to be tried."""
        for edge in edges:
            if self.most is not None and span(edge) > self.most:
                self.beyond = True
            else:
                heappush(self.waiting, (self._rank(edge), next(self._numbers), edge))

    def _rank(self, edge: Edge) -> tuple[int, ...]:
        deviations = len(edge.node.branch.ways) + 1
        return (span(edge), deviations) if self.mixes else (deviations,)

    def mix(self) -> None:
        """From now on, what deviates near its first deviation comes first: bounded mixing, with a bound that grows."""
        self.mixes = True
        self.waiting = [(self._rank(edge), number, edge) for _, number, edge in self.waiting]
        self._spared = [(self._rank(edge), number, edge) for _, number, edge in self._spared]
        heapify(self.waiting)

    def trial(self) -> Trial | None:
        """The next run; it may have `ended_early`. None if nothing is left."""
        if not self.begun:
            self.begun = True
            return self._try(None)
        while self.waiting or self._think_again():
            item = heappop(self.waiting)
            if not self._spares(item[2]):
                if self.mixes:
                    self.bound = max(self.bound, item[0][0])
                return self._try(item[2])
            self._spared.append(item)
        return None

    def left(self) -> int:
        """How many edges are known that are to be tried."""
        spared = [item for item in self.waiting if self._spares(item[2])]
        if spared:
            self._spared += spared
            self.waiting = [item for item in self.waiting if item not in spared]
            heapify(self.waiting)
        return len(self.waiting)

    @property
    def next_rank(self) -> tuple[int, ...]:
        """Of the next run: how many deviations it has; before that, in bounded mixing, how far they are apart."""
        return self.waiting[0][0] if self.waiting else (0,)

    @property
    def done(self) -> float:
        """How much of the tree has been seen, about: as if all edges of a node led to as much."""
        return weight([*self._ends, *(edge for _, _, edge in self._spared)])

    def _spares(self, edge: Edge) -> bool:
        node = edge.node
        for i in node.alike.get(edge.index, ()):
            if i in node.edges and node.edges[i].tried and (i, edge.index) not in node.refused:
                return True
        return self.reduce and self.steady and never_meets(edge, self._branches)

    def _think_again(self) -> bool:
        """Whether something that was spared is to be tried after all, by what is known now."""
        again = [item for item in self._spared if not self._spares(item[2])]
        self._spared = [item for item in self._spared if item not in again]
        for item in again:
            heappush(self.waiting, item)
        return bool(again)

    def _try(self, edge: Edge | None) -> Trial:
        self.branch = branch = Branch(None, None) if edge is None else Branch(edge.node.branch, edge)
        if edge is not None:
            edge.tried = True
            self._branches[branch.ways] = None if branch.ways in self._branches else branch
        choices = Guided(self, [] if edge is None else edge.path())
        trial = Trial(choices, self.run)
        if self.reduce and choices.unseen:
            self._leave_nothing_out(choices)
            if edge is not None:
                self.begun, self.waiting, self._spared, self._ends, self._branches = False, [], [], [], {}
                return trial  # and it all begins anew
        self.left_out |= choices.left_out
        self.bounded |= choices.bounded
        self.strange |= choices.strange
        self.steady &= not choices.unsteady
        branch.note(_reach(choices))
        for node, pair in told_apart(choices, choices.nodes, choices.known is None):
            node.refused |= {pair}
        self.push(to_be_tried(choices.steps, choices.nodes, not self.reduce or trial.cut_off))
        if self.merges and choices.told is not None:
            self._merge(choices, branch, choices.told.unknown)
        if choices.before is not None:
            self._ends.append(choices.before)
        return trial

    def _leave_nothing_out(self, choices: Guided) -> None:
        """A run took locks of windows, had atomic operations, or used a file's shared pointer: every schedule is tried.

        What is done there others learn from memory, and locks that are shared are granted together: reduced searches left
        out what one of some hundred programs made by chance could see.
        """
        self.reduce = self.merges = False
        self.unseen, self.states = choices.unseen, States()
        for node in choices.nodes:
            node.alike = NONE

    def _merge(self, choices: Guided, branch: Branch, unknown: set[str]) -> None:
        """What is to be tried because of runs that ended in known states; or these themselves, if states are not known."""
        if unknown:
            self.merges, self.unknown = False, unknown
            self.push([twin.edge for twin in self.states.twins])
            self.states = States()
            return
        self.push(self.states.ran(choices, choices.nodes))
        if choices.known is not None and choices.before is not None:
            self.merged += 1
            self.push(self.states.joined(choices.known, Twin(choices.before, branch, list(_reach(choices)))))


def _reach(choices: Choices) -> Iterator[tuple[Any, int]]:
    """For each point of a run, the processes that it may have had an influence on, as bits."""
    for k, step in enumerate(choices.steps):
        if choices.hidden:
            yield step.taken.point.resource, -1
            continue
        yield step.taken.point.resource, sum(1 << p for p, reached in enumerate(choices.reached) if reached >> k & 1)


class Wander(Choices):
    """Takes what chance says: of all that is there, or by ranks of importance that change now and then (PCT)."""

    goes_on = True

    def __init__(self, buffering: str, seed: str) -> None:
        super().__init__(buffering)
        self.chance = Random(seed)
        self.weights: dict[Any, float] = {}
        self.by_weight = self.chance.random() < 0.5
        self.changes = {self.chance.randrange(1, 50) for _ in range(2)}

    def chosen(self, options: list[Option]) -> int | None:
        """By chance; the same for the same seed."""
        if not self.by_weight:
            return self.chance.randrange(len(options))
        best = max(range(len(options)), key=lambda i: self._weight(options[i]))
        if len(self.steps) in self.changes:
            self.weights[self._who(options[best])] = -len(self.steps)
        return best

    def _who(self, option: Option) -> Any:
        return option.value.out.number if isinstance(option.value, Envelope) else (option.point.key[0], str(option.value))

    def _weight(self, option: Option) -> float:
        return self.weights.setdefault(self._who(option), self.chance.random())
