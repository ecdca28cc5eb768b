"""What a run tells of itself while it is steered: who sent, awaited and learned what, and which choices that hangs on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fakempi.choices.past import Half, Life, union
from fakempi.choices.told import EVERYBODY, Told, mark
from fakempi.mpi.base.child import Child
from fakempi.mpi.base.waiting import AllOf, Awaited, Completion
from fakempi.wire.envelope import Envelope, Pattern

ELSEWHERE = object()
"""Where a task learns from that waits for something which is not MPI's: anybody."""


class Notes:
    """What is known of tasks, messages and receives."""

    loop: Any
    steps: Sequence[Any]
    told: Told | None = None  # what ranks were told, if anybody wants to know

    def __init__(self) -> None:
        self.left_out: set[str] = set()
        self.unsteady = False
        self.hidden = False  # whether ranks may learn of each other by ways that are not seen
        self.touched: list[int] = []  # by process: the steps that may have had an influence on it
        self.reached: list[int] = []  # the same, or on what was sent to it
        self.log: dict[Any, list[tuple[str, Any]]] = {}  # by mailbox: what came there and what was posted
        self._arrivals: dict[Any, list[Envelope]] = {}
        self._lives: dict[Any, Life] = {}
        self._halves: dict[Any, Half] = {}
        self._deeds: dict[int, int] = {}
        self._parked: set[Any] = set()
        self._born = self._vain = self._because = self._common = 0

    def born(self, task: Any, parent: Any) -> None:
        """A task starts."""
        life = None if parent is None else self._lives.get(parent)
        if life is None or parent.owner is not task.owner:
            self._born += 1
            key: tuple[int, ...] = (self._born,)
            if parent is not None:  # who spawns processes may be another one in another run
                self.unsteady = True
                self.not_told("spawned processes")
        else:
            if not isinstance(task.body, Child):
                self.leaves_out("the order in which threads of one rank call MPI")
                self.not_told("threads")
            life.children += 1
            key = (*life.key, life.children)
        self._lives[task] = Life(key, 0 if life is None else life.past)

    def _of(self, process: int) -> int:
        while len(self.touched) <= process:
            self.touched.append(self._common)
            self.reached.append(self._common)
        return self.touched[process]

    def sent(self, envelope: Envelope) -> None:
        """A message goes out."""
        life = self._lives[self.loop.running]
        life.sent += 1
        self._vain = 0
        touched = self._of(envelope.out.number)
        self._halves[envelope] = Half((life.key, life.sent), life.past, touched, self._acts(envelope.out.number))
        self._of(envelope.box.owner)
        self.reached[envelope.box.owner] |= touched
        self.happens("heard", envelope.out.number, envelope.box.owner)

    def awaited(self, pattern: Pattern) -> None:
        """A message is awaited."""
        life = self._lives[self.loop.running]
        life.awaited += 1
        self._vain = 0
        owner = pattern.box.owner
        self._halves[pattern] = Half((life.key, "recv", life.awaited), life.past, self._of(owner), self._acts(owner))
        self.log.setdefault(pattern.box, []).append(("post", pattern))

    def arrived(self, box: Any, envelope: Envelope) -> None:
        """A message comes to a mailbox."""
        self._arrivals.setdefault(box, []).append(envelope)
        self.log.setdefault(box, []).append(("come", envelope))
        self.happens("came", box.owner, envelope.source, envelope.tag)

    def leaves_out(self, what: str) -> None:
        """The program does something of which not all outcomes are tried."""
        self.left_out.add(what)

    def not_told(self, what: str) -> None:
        """Ranks may learn of each other by this, and nobody keeps account of it."""
        if self.told is not None:
            self.told.unknown.add(what)

    def happens(self, *event: Any) -> None:
        """Keep what somebody may come too late for, or hear of, and after how many choices it was."""
        if self.told is not None:
            self.told.events.append((len(self.steps), event))

    def met(self, plan: str = "") -> None:
        """Ranks meet, and whatever one of them knows may tell in what all do then."""
        self.hidden |= plan.startswith(("File", "Win"))
        if self.hidden:
            self.not_told("files" if plan.startswith("File") else "windows")
        self._acts(self.loop.running.owner.number)
        self.everybody()

    def everybody(self) -> None:
        """Each may hear of all that any of them knows."""
        self.happens(*EVERYBODY)
        self._common = every = (1 << len(self.steps)) - 1
        self.touched = [every] * len(self.touched)
        self.reached = [every] * len(self.reached)

    def _acts(self, process: int) -> int:
        number = self._deeds[process] = self._deeds.get(process, 0) + 1
        return number

    def was_last(self, envelope: Envelope) -> bool:
        """Whether its sender has done nothing after it."""
        return bool(self._deeds[envelope.out.number] == self._halves[envelope].number)

    def half(self, item: Any) -> Half:
        """What is known of an envelope or a pattern."""
        return self._halves[item]

    def arrivals_at(self, box: Any) -> list[Envelope]:
        """All that came to a mailbox, in order."""
        return self._arrivals.setdefault(box, [])

    def matched(self, envelope: Envelope, pattern: Pattern) -> None:
        """The two have met. Who waits for either learns of the other; their processes are touched at once."""
        half = self._halves[envelope]
        other = self._halves.get(pattern)
        if other is None:  # of a message that a probe has taken
            life = self._lives[self.loop.running]
            other = self._halves[pattern] = Half(None, life.past, 0, 0)
        because, self._because = self._because, 0
        if not envelope.eager:
            half.learned |= other.past | because
        other.learned |= half.past | because
        receiver, sender = envelope.box.owner, envelope.out.number
        if self.told is not None:
            self.told.matched(envelope, half.key, pattern, other.key)
        self.touched[receiver] = self._of(receiver) | half.touched | because
        if not envelope.eager:
            self.touched[sender] = self._of(sender) | self.touched[receiver]
            self.reached[sender] |= self.touched[sender]
            self.happens("heard", receiver, sender)
        self.reached[receiver] |= self.touched[receiver]
        self.log.setdefault(envelope.box, []).append(("go", envelope))

    def learned_of(self, operation: Any) -> int | None:
        """What one learns by the end of an operation; None if that is not known."""
        if operation.__class__ is AllOf:
            known = [self.learned_of(one) for one in operation.operations]
            return None if None in known else union(known)
        half = self._halves.get(operation)
        return None if half is None else half.learned

    def teachers(self, reason: Any) -> list[Any]:
        """Before a task waits: from whom it learns when it goes on."""
        if self.loop.running in self._parked or reason is None:
            return []
        parts = reason if isinstance(reason, tuple) else (reason,)
        found: list[Any] = []
        for part in parts:
            if part.__class__ is AllOf:
                found += self.teachers(tuple(part.operations))
            elif isinstance(part, Completion) and isinstance(part.why, Child) and part.why.task is not None:
                found.append(self._lives[part.why.task])
            elif isinstance(part, Awaited):
                self.met()
                found.append(ELSEWHERE)
            elif not isinstance(part, str):
                found.append(part)
        return found

    def learn(self, task: Any, teachers: Sequence[Any]) -> None:
        """A task goes on."""
        life = self._lives[task]
        if self.loop.now:
            life.times = mark(life.times, self.loop.now)
        for teacher in teachers:
            if teacher is ELSEWHERE:
                self.met()
            else:
                if self.told is not None:
                    self.told.passed(teacher)
                life.past |= teacher.past if isinstance(teacher, Life) else self.learned_of(teacher) or 0
