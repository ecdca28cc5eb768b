"""Steers a run: knows what is open, and has one thing done when nothing else can happen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

from fakempi.choices.mailbox import OpenMailbox
from fakempi.choices.notes import Notes
from fakempi.choices.points import (
    NOT_YET,
    Arrival,
    AtPointer,
    Call,
    Locking,
    Looking,
    Point,
    Receive,
    Requests,
    all_of,
    one_of,
    some_of,
)
from fakempi.choices.token import BUFFERINGS
from fakempi.choices.told import mark
from fakempi.choices.windows import AtWindow, Grant, Turn
from fakempi.choices.wire import OpenDelivery
from fakempi.kernel.loop import Ended
from fakempi.mpi.base.complain import public_call, site_of
from fakempi.mpi.base.constants import UNDEFINED
from fakempi.mpi.base.waiting import Completion
from fakempi.wire.envelope import Envelope, Pattern

PATIENCE = 200
"""Vain looks of each task that polls, with nothing else going on, before they count as starved."""

NOT_YETS = 2
"""How often in a row a test may say "not yet" though there is something, or others could go on."""

LOOSE = dict.fromkeys(("bcast", "exscan", "gather", "gatherv", "reduce", "scan", "scatter", "scatterv"), "linear")
"""Where no send waits, algorithms by which a rank waits for the root alone, and the root for those from whom it receives.

A binomial tree makes ranks wait for those between them and the root, which MPI does not promise."""

AFTERWARDS = 2000
"""Choices after a rank has failed, in a run whose other ranks go on, before it is ended."""


class Option(NamedTuple):
    """One thing that can be done: a point takes a value. `key` is who that is in every run."""

    point: Point
    key: Any
    value: Any

    def words(self) -> str:
        """`rank 0's recv at queue.py:12 took rank 2's message`."""
        did, what = self.point.words(self.value)
        return f"{self.point.who()} {did} {what}"


class Step(NamedTuple):
    """A choice that was made: what could have been, which of that was done, on what that hangs, and what it knew not."""

    options: list[Option]
    which: int
    past: int
    hides: bool

    @property
    def taken(self) -> Option:
        """What was done."""
        return self.options[self.which]


class Choices(Notes):
    """What is open in a run; who is derived from it says what is `chosen`.

    Attributes
    ----------
    steps : all choices made so far, also those that had but one option
    left_out : what the run did that is not explored, in words
    bounded : whether a test could have said "not yet" once more
    cut_off : whether the run was ended while ranks had something to do
    at_failure : how many steps there were when the first rank failed
    """

    goes_on = False  # whether, when a rank has failed, the others do

    def __init__(self, buffering: str) -> None:
        super().__init__()
        self.buffering = buffering
        self.steps: list[Step] = []
        self.points: list[Point] = []
        self.lockings: list[Locking] = []
        self.at_windows: dict[int, list[AtWindow]] = {}  # by process, in the order in which they came there
        self.shared_locks: set[Any] = set()  # of windows, granted to several at once
        self.unseen: set[str] = set()  # choices, in words, of which others learn from memory or files
        self.bounded = self.cut_off = False
        self.at_failure: int | None = None
        self._said_not_yet: dict[Any, int] = {}
        self._seen: Any = None
        self.loop: Any = None
        self.universe: Any = None

    def steer(self, universe: Any) -> None:
        """Take over a run before it starts."""
        self.universe, self.loop = universe, universe.loop
        universe.wire.choices = universe.choices = self
        universe.mailbox = lambda *given: OpenMailbox(self, *given)
        if universe.algorithms is None and self.buffering == "infinite":
            universe.algorithms = LOOSE  # looked up by the first collective call: that takes as long as a small run
        if self.goes_on:
            self._fail, universe.fail = universe.fail, self._failed
            self._end, universe.end = universe.end, self._ended

    def buffered(self, cost: Any) -> Any:
        """The cost model, with the schedule's buffering."""
        cost = copy(cost)
        cost.eager_limit = BUFFERINGS[self.buffering]
        return cost

    def delivery(self, loop: Any, cost: Any, matched: Callable[[Envelope, Pattern], None]) -> OpenDelivery:
        """The wire, where it is noted when an envelope meets its pattern."""

        def note(envelope: Envelope, pattern: Pattern) -> None:
            self.matched(envelope, pattern)
            matched(envelope, pattern)

        return OpenDelivery(loop, cost, note)

    def end(self) -> None:
        """The run has come to its end, and went well."""

    def _failed(self, process: Any, error: BaseException) -> None:
        """A rank has failed. In a search the others go on, for what they do may show what else could have been."""
        if not isinstance(error, Exception | SystemExit):
            self._fail(process, error)
        elif not self.universe.failures:
            self.at_failure = len(self.steps)
            self.universe.failures.append((process, error))

    def _ended(self, verdict: BaseException) -> None:
        self.cut_off = True
        self._end(verdict)

    def left_open(self, pattern: Pattern) -> None:
        """A receive from any source is posted."""
        half, process = self._halves[pattern], self.loop.running.owner
        self.points.append(Receive(self, half.key, process, half.past, self._site(), pattern))

    # -- what calls ask ---------------------------------------------------------------------------------------------

    def any_of(self, requests: Sequence[Any], polls: bool) -> int:
        """Waitany, Testany: the index of a request that has ended; UNDEFINED for "not yet"."""
        answer = self._ask(Requests, requests, polls, one_of)
        return UNDEFINED if answer is NOT_YET else int(answer)

    def some_of(self, requests: Sequence[Any], polls: bool) -> list[int]:
        """Waitsome, Testsome: indices of requests that have ended."""
        answer = self._ask(Requests, requests, polls, some_of)
        return [] if answer is NOT_YET else list(answer)

    def tested(self, requests: Sequence[Any]) -> bool:
        """Test, Testall: whether all have ended."""
        active = [one for one in requests if one._operation is not None]
        if not active:
            return True
        return self._ask(Requests, active, True, partial(all_of, whole=len(active)), True) is not NOT_YET

    def all_there(self, messages: Callable[[], Sequence[Pattern]]) -> bool:
        """Parrived: whether all messages have come that reach into a partition."""
        return self._ask(Arrival, messages) is not NOT_YET

    def looked(self, pattern: Pattern, polls: bool, takes: bool, tells: bool) -> Envelope | None:
        """Probe and its kin: a message that fits, or None for "not yet"."""
        self.log.setdefault(pattern.box, []).append(("look", pattern))
        answer = self._ask(Looking, pattern, polls, takes, tells)
        return None if answer is NOT_YET else answer

    def lock(self, lock: Any, is_free: Callable[[], bool], who: str, place: str, reason: Any) -> None:
        """A thread wants a lock: when it goes on, it can have it."""
        self.met()
        self._ask(Locking, lock, is_free, who, site=("acquire", place), reason=reason)

    def at_pointer(self, opened: Any) -> None:
        """A process comes to the shared pointer of a file: when it goes on, it is its turn."""
        self.met("File")
        self._ask(AtPointer, reason=Completion(f"its turn at {opened.path}"))

    def lock_of_window(self, lock: Any) -> None:
        """Somebody has asked for the lock of a window, or given it back."""
        known = {one.permit for one in self.points if isinstance(one, Grant)}
        self.points = [one for one in self.points if not isinstance(one, Grant) or one.permit in one.lock.queue]
        self.points += [Grant(self, lock, permit) for permit in lock.queue if permit not in known]

    def atomic(self, operation: Any, site: tuple[str, str], go: Callable[[], None]) -> None:
        """An atomic operation may go to its target."""
        self.points.append(Turn(self, operation, site, go))

    def _ask(self, kind: Any, *given: Any, site: Any = None, reason: Any = None) -> Any:
        task = self.loop.running
        life = self._lives[task]
        life.asked += 1
        self._acts(task.owner.number)
        point = kind(self, (life.key, "ask", life.asked), task.owner, life.past, site or self._site(), *given)
        point.task = task
        self.points.append(point)
        self._parked.add(task)
        task.since = self.loop.now
        task.reason = reason or (("any", *point.operations.values()) if isinstance(point, Requests) else point.pattern)
        self.loop.wait()
        task.reason = None
        return point.answer

    def go_on(self, point: Any) -> None:
        """The task of a call goes on."""
        self._parked.discard(point.task)
        self.loop.book(self.loop.now, point.task)

    def _site(self) -> tuple[str, str]:
        call, frame = public_call(sys._getframe(2))
        return call, site_of(frame)

    def state(self) -> int | None:
        """What all that is to come hangs on; None if that is not known."""
        told, universe = self.told, self.universe
        if universe.dead or universe.watches_the_dead:
            self.not_told("processes that die")
        if told is None or told.unknown or universe.failures:
            return None
        return told.state(self.loop.now, self._lives, self._said_not_yet, universe.ledger.findings())

    # -- choosing -------------------------------------------------------------------------------------------------

    def options(self) -> list[Option]:
        """All that can be done: what is there first, then "not yet", of which there are not many in a row."""
        dead = [process for process, _ in self.universe.failures]
        alive = [point for point in self.points if point.process not in dead]
        found = [
            Option(point, (point.resource, (point.key, key)), value) for point in alive for key, value in point.values()
        ]
        for point in alive:
            if point.polls:
                if not found or self._said_not_yet.get(self._who_asks(point), 0) < NOT_YETS:
                    found.append(Option(point, (point.resource, (point.key, NOT_YET)), NOT_YET))
                else:
                    self.bounded = True
        return found

    def _who_asks(self, point: Any) -> Any:
        return point.task, point.call, point.place

    def choose(self) -> bool:
        """Nothing else can happen: have one thing done. False if nothing can be, or the run ends."""
        options = self.options()
        if not options or self._starves(options):
            return False
        if self.at_failure is not None and len(self.steps) > self.at_failure + AFTERWARDS:
            self.leaves_out("what ranks do long after another has failed")
            self.universe.close()
            return False
        index = self.chosen(options)
        if index is None:
            return False
        self._do(options, index)
        return not self.loop.ending

    def chosen(self, options: list[Option]) -> int | None:
        """The index of the one to be done; None if the run has been ended."""
        raise NotImplementedError

    def _starves(self, options: list[Option]) -> bool:
        """Whether all that can be done is to look in vain, and that has gone on for long."""
        if any(option.value is not NOT_YET for option in options) or self._seen != self.loop.now:
            self._seen, self._vain = self.loop.now, 0
            return False
        self._vain += 1
        self.loop.starved = self._vain > PATIENCE * len(options)
        return bool(self.loop.starved)

    def _do(self, options: list[Option], index: int) -> None:
        option, bit = options[index], 1 << len(self.steps)
        point, value = option.point, option.value
        if point.polls:
            forced = all(one.value is NOT_YET for one in options)
            who = self._who_asks(point)
            if value is not NOT_YET:
                self._said_not_yet.pop(who, None)
            elif not forced:
                self._said_not_yet[who] = self._said_not_yet.get(who, 0) + 1
        hides = point.hides()
        self.points.remove(point)
        number = point.process.number
        self.touched[number] = self._of(number) | bit
        self.reached[number] |= self.touched[number]
        self.steps.append(Step(options, index, point.past, hides))
        try:
            learned = point.take(value, bit)
        except Ended:
            raise
        except Exception as error:  # what goes wrong when a message is matched is the receiver's
            self.universe.fail(point.process, error)
            return
        if learned:
            self.steps[-1] = self.steps[-1]._replace(past=point.past | learned)
        if isinstance(point, Receive):
            self.stir(point.box)
        elif isinstance(point, Call):
            life = self._lives[point.task]
            life.past |= bit | point.past | learned
            life.answers = mark(life.answers, option.key[1][1])

    def match(self, box: Any, envelope: Envelope, pattern: Pattern, because: int) -> None:
        """A wildcard takes a message."""
        box.take(envelope, pattern)
        self._because = because
        self.universe.wire.join(envelope, pattern)

    def stir(self, box: Any) -> None:
        """Something has left a mailbox: what is certain now happens."""
        while (pair := box.certain()) is not None:
            self.universe.wire.join(*pair)

