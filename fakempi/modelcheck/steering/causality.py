"""Tracks the happens-before relation of a steered run: which choices each send, receive and task depends on.

In a *steered run*, explicit choices decide the order of events. The *causal past* of a task is the set of choices that
happened before its next action. A task *learns* of a choice when the choice becomes part of its causal past, which happens
when the task waits for an operation that depends on the choice. Sets of choices are bit masks (`causal_records`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.modelcheck.steering.causal_records import MessageRecord, TaskRecord, union
from fakempi.modelcheck.steering.probe_results import ProbeResults
from fakempi.modelcheck.steering.state_hash import ALL_RANKS, StateHash, digest
from fakempi.mpi.base.child import ChildTask
from fakempi.mpi.base.waiting import AllOf, Awaited, Completion

UNKNOWN_SOURCE = object()
"""Stands for an event outside MPI for which a task waits. Any rank may have caused it, so the task may learn from any."""


class Causality:
    """The causal records of tasks, messages and receives."""

    loop: Any
    timed: bool
    steps: Sequence[Any]
    state_hash: StateHash | None = None  # None unless the search compares states

    def __init__(self) -> None:
        self.unexplored: set[str] = set()  # descriptions of actions that the search does not explore completely
        self.unstable_names = False  # whether keys of tasks may differ between runs
        self.hidden_channels = False  # whether ranks may communicate in untracked ways
        self.touched: list[int] = []  # by process: the choices that may have influenced it
        self.reached: list[int] = []  # by process: the same, and the choices that influenced messages on their way to it
        self.log: dict[Any, list[tuple[str, Any]]] = {}  # events by mailbox: arrive, post, probe, match
        self.probe_results = ProbeResults()
        self.events = 0  # number of events that other ranks may observe; unsuccessful tests and probes do not count
        self._arrivals: dict[Any, list[Envelope]] = {}  # all messages that arrived at a mailbox, in order
        self._tasks: dict[Any, TaskRecord] = {}
        self._messages: dict[Any, MessageRecord] = {}
        self._actions: dict[int, int] = {}  # number of sends, receives and synchronizations of a process
        self._parked: set[Any] = set()  # tasks that wait for the value of a choice point
        self._started = 0  # number of tasks without a parent of the same process
        self._match_causes = 0  # the choices that caused the match that is about to be made
        self._known_to_all = 0  # the choices before the last synchronization of all ranks

    def task_started(self, task: Any, parent: Any) -> None:
        """Record a new task."""
        task_record = None if parent is None else self._tasks.get(parent)
        if task_record is None or parent.owner is not task.owner:
            self._started += 1
            key: tuple[int, ...] = (self._started,)
            if parent is not None:  # the spawning process may differ between runs
                self.unstable_names = True
                self.untracked("spawned processes")
        else:
            if not isinstance(task.body, ChildTask):
                self.note_unexplored("the order in which threads of one rank call MPI")
                self.untracked("threads")
            task_record.children += 1
            key = (*task_record.key, task_record.children)
        self._tasks[task] = TaskRecord(key, 0 if task_record is None else task_record.past)

    def _touched_by(self, process: int) -> int:
        """Return the choices that may have influenced a process, which may be new."""
        while len(self.touched) <= process:
            self.touched.append(self._known_to_all)
            self.reached.append(self._known_to_all)
        return self.touched[process]

    def sent(self, envelope: Envelope) -> None:
        """Record a send."""
        task_record = self._tasks[self.loop.running]
        task_record.sent += 1
        self.events += 1
        touched = self._touched_by(envelope.out.number)
        key, number = (task_record.key, task_record.sent), self._count_action(envelope.out.number)
        self._messages[envelope] = MessageRecord(key, task_record.past, touched, number)
        self._touched_by(envelope.box.owner)
        self.reached[envelope.box.owner] |= touched
        self.record_event("informed", envelope.out.number, envelope.box.owner)

    def awaited(self, receive: PostedReceive) -> None:
        """Record a posted receive."""
        task_record = self._tasks[self.loop.running]
        task_record.awaited += 1
        self.events += 1
        owner = receive.box.owner
        key = task_record.key, "recv", task_record.awaited
        self._messages[receive] = MessageRecord(key, task_record.past, self._touched_by(owner), self._count_action(owner))
        self.log.setdefault(receive.box, []).append(("post", receive))
        self.probe_results.may_be_taken(receive)

    def arrived(self, box: Any, envelope: Envelope) -> None:
        """Record the arrival of a message at a mailbox."""
        self._arrivals.setdefault(box, []).append(envelope)
        self.log.setdefault(box, []).append(("arrive", envelope))
        self.record_event("arrived", box.owner, envelope.source, envelope.tag)

    def note_unexplored(self, what: str) -> None:
        """Record a description of something in the program that the search does not explore completely."""
        self.unexplored.add(what)

    def untracked(self, what: str) -> None:
        """Record that ranks may communicate in a way that is not tracked."""
        if self.state_hash is not None:
            self.state_hash.unknown.add(what)

    def record_event(self, *event: Any) -> None:
        """Record an event with the number of choices before it."""
        if self.state_hash is not None:
            self.state_hash.events.append((len(self.steps), event))

    def synchronized(self, call_name: str = "") -> None:
        """Record a synchronization: from now on, every choice so far may have influenced every rank."""
        self.events += 1
        self.hidden_channels |= call_name.startswith(("File", "Win"))
        if self.hidden_channels:
            self.untracked("files" if call_name.startswith("File") else "windows")
        self._count_action(self.loop.running.owner.number)
        self.influence_all()

    def influence_all(self) -> None:
        """Record that every choice so far may have influenced every rank."""
        self.record_event(*ALL_RANKS)
        self._known_to_all = every = (1 << len(self.steps)) - 1
        self.touched = [every] * len(self.touched)
        self.reached = [every] * len(self.reached)

    def _count_action(self, process: int) -> int:
        number = self._actions[process] = self._actions.get(process, 0) + 1
        return number

    def was_last(self, envelope: Envelope) -> bool:
        """Whether the sender has made no other send, receive or synchronization since this message."""
        return bool(self._actions[envelope.out.number] == self._messages[envelope].number)

    def message_record(self, item: Any) -> MessageRecord:
        """Return the record of an envelope or a receive."""
        return self._messages[item]

    def arrivals_at(self, box: Any) -> list[Envelope]:
        """Return all messages that arrived at a mailbox, in order."""
        return self._arrivals.setdefault(box, [])

    def matched(self, envelope: Envelope, receive: PostedReceive) -> None:
        """Record a match. The tasks learn of it when they have waited for it; their processes count as influenced now."""
        record = self._messages[envelope]
        other = self._messages.get(receive)
        if other is None:  # the message was taken by Mprobe
            task_record = self._tasks[self.loop.running]
            other = self._messages[receive] = MessageRecord(None, task_record.past, 0, 0)
        causes, self._match_causes = self._match_causes, 0
        if not envelope.eager:
            record.learned |= other.past | causes
        other.learned |= record.past | causes
        receiver, sender = envelope.box.owner, envelope.out.number
        if self.state_hash is not None:
            self.state_hash.matched(envelope, record.key, receive, other.key)
            if self.timed:
                self.state_hash.takes_time(self.loop.now, record.key)
        self.touched[receiver] = self._touched_by(receiver) | record.touched | causes
        if not envelope.eager:
            self.touched[sender] = self._touched_by(sender) | self.touched[receiver]
            self.reached[sender] |= self.touched[sender]
            self.record_event("informed", receiver, sender)
        self.reached[receiver] |= self.touched[receiver]
        self.log.setdefault(envelope.box, []).append(("match", envelope))

    def learned_of(self, operation: Any) -> int | None:
        """Return the choices of which a task learns when an operation completes; None if they are unknown."""
        if operation.__class__ is AllOf:
            known = [self.learned_of(part) for part in operation.operations]
            return None if None in known else union(known)
        record = self._messages.get(operation)
        return None if record is None else record.learned

    def knowledge_sources(self, reason: Any) -> list[Any]:
        """Return the operations, child tasks or `UNKNOWN_SOURCE` that a task is about to wait for, and learns from."""
        if self.loop.running in self._parked or reason is None:
            return []
        parts = reason if isinstance(reason, tuple) else (reason,)
        sources: list[Any] = []
        for part in parts:
            if part.__class__ is AllOf:
                sources += self.knowledge_sources(tuple(part.operations))
            elif isinstance(part, Completion) and isinstance(part.why, ChildTask) and part.why.task is not None:
                sources.append(self._tasks[part.why.task])
            elif isinstance(part, Awaited):
                self.synchronized()
                sources.append(UNKNOWN_SOURCE)
            elif not isinstance(part, str):
                sources.append(part)
        return sources

    def learn(self, task: Any, knowledge_sources: Sequence[Any]) -> None:
        """Add the choices of which a task has learned from the sources to its causal past, when it continues."""
        task_record = self._tasks[task]
        if self.loop.now:
            task_record.times = digest(task_record.times, self.loop.now)
        for source in knowledge_sources:
            if source is UNKNOWN_SOURCE:
                self.synchronized()
            else:
                if self.state_hash is not None:
                    self.state_hash.passed(source)
                task_record.past |= source.past if isinstance(source, TaskRecord) else self.learned_of(source) or 0
