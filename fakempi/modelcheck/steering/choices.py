"""The choices of a steered run: when no task can run, list the options and carry out one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

from fakempi.core.hooks import Layer, OnEnd, OnFail
from fakempi.core.kernel.loop import Ended
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.network.models.zero_cost import ZeroCost
from fakempi.core.network.ports import Port
from fakempi.modelcheck.steering.causality import Causality
from fakempi.modelcheck.steering.fairness import Turns
from fakempi.modelcheck.steering.mailbox import OpenMailbox
from fakempi.modelcheck.steering.network import OpenDelivery
from fakempi.modelcheck.steering.points import (
    NOT_YET,
    Arrival,
    CallPoint,
    FilePointer,
    Point,
    Probe,
    Receive,
    Requests,
    ThreadLock,
)
from fakempi.modelcheck.steering.state_hash import digest
from fakempi.modelcheck.steering.token import UNLIMITED, LibraryMode
from fakempi.modelcheck.steering.windows import AtomicOperation, WindowLock, WindowPoint
from fakempi.mpi.base.call_site import call_and_place, place_of_call
from fakempi.mpi.base.waiting import Completion
from fakempi.mpi.failures.state import FailureState

POLL_BOUND = 2
"""The initial bound on polling: how many times in a row a test may report "not yet" while another event is possible."""

LINEAR = dict.fromkeys(("bcast", "exscan", "gather", "gatherv", "reduce", "scan", "scatter", "scatterv"), "linear")
"""Algorithms in which a rank waits only for the root, and the root only for ranks from which it receives.

In a binomial tree, ranks also wait for the ranks between them and the root, which MPI does not guarantee."""

MAX_CHOICES_AFTER_FAILURE = 2000
"""The maximum number of choices after a rank has failed, in a run whose other ranks continue."""


class Continue(OnFail[Any], OnEnd):
    """In a search, let the other ranks continue after one has failed: their actions may race with earlier choices."""

    layer = Layer.SCHEDULES

    def __init__(self, choices: Choices) -> None:
        self.choices = choices

    def fail(self, proceed: Callable[[Any, BaseException], None], process: Any, error: BaseException) -> None:
        """Record the first failure, and end the run only for errors that are not the program's."""
        choices = self.choices
        failures = choices.universe.failures
        if not isinstance(error, Exception | SystemExit):
            proceed(process, error)
        elif not failures:
            process.explain(error)  # ends the run if it is a finding
            choices.at_failure = len(choices.steps)
            failures.append((process, error))

    def end(self, proceed: Callable[[BaseException], None], verdict: BaseException) -> None:
        """Record that the run was ended while ranks could continue."""
        self.choices.cut_off = True
        proceed(verdict)


class Option(NamedTuple):
    """An option of a choice: `point` takes `value`. `key` identifies the option; it is the same in every run."""

    point: Point
    key: Any
    value: Any

    def describe(self) -> str:
        """Return a description: `rank 0's recv at queue.py:12 took rank 2's message`."""
        verb, obj = self.point.describe(self.value)
        return f"{self.point.subject()} {verb} {obj}"


class ChoiceStep(NamedTuple):
    """A choice.

    Attributes
    ----------
    options : its options
    taken_index : the index of the option taken
    past : the causal past of the option taken
    has_blocked_value : whether the point had a value that it could not take yet; see `Point.has_blocked_value`
    """

    options: list[Option]
    taken_index: int
    past: int
    has_blocked_value: bool

    @property
    def taken(self) -> Option:
        """The option taken."""
        return self.options[self.taken_index]


class Choices(Causality):
    """The open choice points of a run. Subclasses implement `chosen`, which selects an option.

    Attributes
    ----------
    steps : all choices made so far, including those with a single option
    unexplored : descriptions of what the run did that is not explored
    polls : how many times in a row a search lets a test report "not yet" while another event is possible
    excluded : index -> reason, for the options of the current choice that a search may not take because of `polls` or
        fairness (`Turns.excluded`); a token may still name them
    cut_off : whether the run was ended while ranks could continue
    at_failure : the number of steps when the first rank failed
    """

    timed = False  # whether messages take time
    _table: Any = None  # the algorithms of LINEAR, once resolved
    _uses_linear = False  # whether this run uses them
    continues_after_failure = False  # whether other ranks continue after one has failed
    polls = POLL_BOUND

    def __init__(self, mode: LibraryMode) -> None:
        super().__init__()
        self.mode = mode
        self._inner_limit = -1 if mode.limit < 0 else UNLIMITED
        self.sizes: set[int] = set()  # bytes of the program's standard sends
        self.early: dict[tuple[str, str], None] = {}  # (call, line) of collective calls that a rank may leave early
        self.pending_buffers: dict[tuple[str, str], None] = {}  # (call, line) of nonblocking calls with a buffer
        self.steps: list[ChoiceStep] = []
        self.points: list[Point] = []
        self.lockings: list[ThreadLock] = []
        self.at_windows: dict[int, list[WindowPoint]] = {}  # by target process, in order of arrival
        self.shared_locks: set[Any] = set()  # window locks that were granted to several ranks together
        self.untracked_effects: set[str] = set()  # descriptions of choices whose effects ranks observe in memory or files
        self.ended: set[Any] = set()  # operations of which the program knows that they have completed
        self.cut_off = False
        self.excluded: dict[int, float] = {}
        self.fair = Turns(self)
        self.at_failure: int | None = None
        self._not_yet_counts: dict[Any, int] = {}
        self.loop: Any = None
        self.universe: Any = None

    def steer(self, universe: Any) -> None:
        """Take control of a run before it starts."""
        self.universe, self.loop = universe, universe.loop
        self.timed = type(universe.cost) is not ZeroCost
        universe.network.choices = self
        if universe.algorithms is None:
            self._inner_limit, self._uses_linear = UNLIMITED, True
            universe.algorithms = Choices._table or LINEAR  # the first collective call resolves the table: 1 ms
        if self.continues_after_failure:
            universe.subscribe(Continue(self))

    def mailbox(self, owner: int, into: Port, name: Any) -> OpenMailbox:
        """Return a new mailbox."""
        return OpenMailbox(self, owner, into, name)

    def buffered(self, cost: Any) -> Any:
        """Return the cost model with the schedule's buffering."""
        cost = copy(cost)
        cost.eager_limit = max(self.mode.limit, 0)
        return cost

    def keep_table(self, table: Any) -> None:
        """Keep the table of algorithms that the first collective call resolved, for the next runs."""
        if self._uses_linear:
            Choices._table = table

    def is_eager(self, nbytes: int) -> bool:
        """Whether a standard send of the program is buffered. Records its size: each size is explored as an eager limit.

        A send at a line where `message-lost` is suppressed is always buffered: without its receive it would be a deadlock.
        """
        if self.universe.ledger.allows("message-lost", place_of_call()):
            return True
        self.sizes.add(int(nbytes))  # converts numpy's integers
        return nbytes <= self.mode.limit

    def inner_limit(self) -> int:
        """Return the eager limit of messages inside collective calls.

        Whether a collective call waits for other ranks is part of the mode, so messages of the default algorithms are
        always buffered. Messages of algorithms that the user has chosen are buffered unless the mode is "zero".
        """
        return self._inner_limit

    def may_return_early(self, call: str, place: str) -> None:
        """Record a collective call that a rank may leave before all ranks have entered it."""
        self.early[call, place] = None

    def note_pending_buffer(self, call: str, place: str) -> None:
        """Record a nonblocking call whose data may move at different times."""
        self.pending_buffers[call, place] = None

    def delivery(self, loop: Any, cost: Any, matched: Callable[[Envelope, PostedReceive], None]) -> OpenDelivery:
        """Return the network of a steered run; it reports each match to these choices and to `matched`."""

        def note(envelope: Envelope, receive: PostedReceive) -> None:
            self.matched(envelope, receive)
            matched(envelope, receive)

        return OpenDelivery(loop, cost, note)

    def end(self) -> None:
        """Do nothing; called at the end of a successful run."""

    def wildcard_posted(self, receive: PostedReceive) -> None:
        """Add a choice point for a receive from any source."""
        record, process = self._messages[receive], self.loop.running.owner
        self.points.append(Receive(self, record.key, process, record.past, call_and_place(), receive))

    # -- queries of MPI calls -----------------------------------------------------------------------------------------

    def completed(self, requests: Sequence[Any], how: str, *, polls: bool, keeps: bool) -> Sequence[int] | None:
        """Calls on requests: return the indices of completed requests that a call reports, or None for "not yet".

        `how` is "all", "any" or "some", `polls` is set by Test and Get_status, and `keeps` by Get_status alone.
        """
        answer = self._wait_for_choice(Requests, requests, how, polls, keeps)
        return None if answer is NOT_YET else [answer] if isinstance(answer, int) else answer

    def all_complete(self, awaited: Callable[[], Sequence[Any]]) -> bool:
        """Parrived, and a window's Test: return whether all operations have completed; `awaited` lists them when called."""
        return self._wait_for_choice(Arrival, awaited) is not NOT_YET

    def is_known(self, operation: Any) -> bool:
        """Whether the program knows that an operation has completed, so that no test may report "not yet"."""
        return operation in self.ended

    def now_known(self, operation: Any) -> None:
        """Record that the program knows from now on that an operation has completed."""
        self.ended.add(operation)

    def probe(self, receive: PostedReceive, polls: bool, takes: bool, identifies: bool) -> Envelope | None:
        """Probe and similar calls: return a matching message, or None for "not yet"."""
        self.log.setdefault(receive.box, []).append(("probe", receive))
        answer = self._wait_for_choice(Probe, receive, polls, takes, identifies)
        return None if answer is NOT_YET else answer

    def lock(self, lock: Any, is_free: Callable[[], bool], name: str, place: str, reason: Any) -> None:
        """Wait until a thread may acquire a lock."""
        self.synchronized()
        self._wait_for_choice(ThreadLock, lock, is_free, name, call_site=("acquire", place), reason=reason)

    def await_shared_pointer(self, file: Any) -> None:
        """Wait until a process may use the shared pointer of a file."""
        self.synchronized("File")
        self._wait_for_choice(FilePointer, reason=Completion(f"its turn at {file.path}"))

    def update_window_lock(self, lock: Any) -> None:
        """Update the choice points of a window's lock after a request or a release."""
        known = {point.grant for point in self.points if isinstance(point, WindowLock)}
        self.points = [
            point for point in self.points if not isinstance(point, WindowLock) or point.grant in point.lock.queue
        ]
        self.points += [WindowLock(self, lock, grant) for grant in lock.queue if grant not in known]

    def add_atomic_operation(self, operation: Any, call_site: tuple[str, str], go: Callable[[], None]) -> None:
        """Add a choice point for an atomic operation at its target."""
        self.points.append(AtomicOperation(self, operation, call_site, go))

    def _wait_for_choice(self, kind: Any, *args: Any, call_site: Any = None, reason: Any = None) -> Any:
        task = self.loop.running
        self.fair.unwatch()
        record = self._tasks[task]
        record.calls += 1
        self._count_action(task.owner.number)
        key, call_site = (record.key, "call", record.calls), call_site or call_and_place()
        point = kind(self, key, task.owner, record.past, call_site, *args)
        point.task = task
        self.points.append(point)
        self._parked.add(task)
        task.since = self.loop.now
        task.reason = reason or (("any", *point.operations.values()) if isinstance(point, Requests) else point.receive)
        self.loop.wait()
        task.reason = None
        self.fair.watch()
        return point.answer

    def resume_task(self, point: Any) -> None:
        """Let the task of a call continue."""
        self._parked.discard(point.task)
        self.loop.run_at(self.fair.when(), point.task)

    def state(self) -> int | None:
        """Return a digest of everything on which the continuation depends; None if it is unknown."""
        state_hash, universe = self.state_hash, self.universe
        failures = universe.state(FailureState)
        if failures.dead or failures.checks_peers:
            self.untracked("process failures")
        if state_hash is None or state_hash.unknown or universe.failures:
            return None
        ledger = universe.ledger
        findings = ledger.findings() if ledger.has_errors() else ()
        return state_hash.state(self.loop.now, self._tasks, self._not_yet_counts, findings)

    # -- choosing -------------------------------------------------------------------------------------------------------

    def options(self) -> list[Option]:
        """Return all options of all points: first the available values, then the answers "not yet"."""
        alive = self.points
        if dead := [process for process, _ in self.universe.failures]:
            # Receives that a rank posted before it failed still match, as receives from a named source do.
            alive = [point for point in alive if point.process not in dead or isinstance(point, Receive)]
        options: list[Option] = []
        for point in alive:
            values = point.values()
            if len(values) > 1 and isinstance(point, CallPoint):
                values = self.fair.in_turn(point.task, values)
            options += [Option(point, (point.resource, (point.key, key)), value) for key, value in values]
        for point in alive:
            if point.polls and not point.is_known():
                options.append(Option(point, (point.resource, (point.key, NOT_YET)), NOT_YET))
        return options

    def _polling_call(self, point: Any) -> Any:
        return point.task, point.call, point.place

    def choose(self) -> bool:
        """Carry out one option when no task can run; return False if there is none or the run ends."""
        options = self.options()
        if not options:
            return False
        self.excluded = self.fair.excluded(options, self.polls, self._not_yet_counts, self._polling_call)
        self.loop.starved = self.fair.is_livelock(options)
        if self.loop.starved:
            return False
        if self.at_failure is not None and len(self.steps) > self.at_failure + MAX_CHOICES_AFTER_FAILURE:
            self.note_unexplored("behavior of ranks long after another rank has failed")
            self.universe.close()
            return False
        index = self.chosen(options)
        if index is None:
            return False
        self._carry_out(options, index)
        return not self.loop.ending

    def chosen(self, options: list[Option]) -> int | None:
        """Return the index of the option to carry out; None if the run has been ended."""
        raise NotImplementedError(f"{type(self).__name__} does not define which option it takes: override chosen()")

    def _carry_out(self, options: list[Option], index: int) -> None:
        option, bit = options[index], 1 << len(self.steps)
        point, value = option.point, option.value
        self.fair.turn_taken(options, option)
        if value is NOT_YET:
            if not self.fair.forced:
                polling_call = self._polling_call(point)
                self._not_yet_counts[polling_call] = self._not_yet_counts.get(polling_call, 0) + 1
        elif isinstance(point, CallPoint):
            self._not_yet_counts.pop(self._polling_call(point), None)
        has_blocked_value = point.has_blocked_value()
        self.points.remove(point)
        number = point.process.number
        self.touched[number] = self._touched_by(number) | bit
        self.reached[number] |= self.touched[number]
        self.steps.append(ChoiceStep(options, index, point.past, has_blocked_value))
        try:
            learned = point.take(value, bit)
        except Ended:
            raise
        except Exception as error:  # errors in matching belong to the receiver
            self.universe.fail(point.process, error)
            return
        if learned:
            self.steps[-1] = self.steps[-1]._replace(past=point.past | learned)
        if isinstance(point, Receive):
            self.match_determined(point.box)
        elif isinstance(point, CallPoint):
            record = self._tasks[point.task]
            record.past |= bit | point.past | learned
            record.answers = digest(record.answers, option.key[1][1])

    def match(self, box: Any, envelope: Envelope, receive: PostedReceive, causes: int) -> None:
        """Match a wildcard receive with a message; `causes` are the choices on which the match depends."""
        box.take(envelope, receive)
        self._match_causes = causes
        self.universe.network.match_waiting(envelope, receive)

    def match_determined(self, box: Any) -> None:
        """Carry out the matches that are determined after a mailbox has changed."""
        while (pair := box.next_determined()) is not None:
            self.universe.network.match_waiting(*pair)
