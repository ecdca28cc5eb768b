"""Choice points: a wildcard receive, a probe, a call that returns one or some of many requests, a test.

A choice point has *values*: the messages that a receive or probe can match, or the answers that a call can return. A choice
*decides* a point: the point takes one of the values that are available at that time. More values may arrive while other
ranks run. A value that arrives after the point was decided is *late*: if the point had waited, it could have taken it. The
search derives races from late values (`modelcheck/search/races.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from itertools import combinations
from typing import Any

from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.modelcheck.steering.causal_records import union

NOT_YET = "not yet"
"""The answer of a nonblocking test or probe that finds nothing. MPI allows it even if a message or completion exists."""

MAX_FOR_SUBSETS = 4
"""Waitsome and Testsome return any subset of at most this many completed requests; of more, only all of them or one."""


class Point:
    """A choice point: its key, which is the same in every run, its process, its causal past, and its call and line."""

    polls = False

    def __init__(self, choices: Any, key: Any, process: Any, past: int, call_site: tuple[str, str]) -> None:
        self.choices, self.key, self.process, self.past = choices, key, process, past
        self.resource = key  # points with the same resource are dependent
        self.call, self.place = call_site
        self.answer: Any = None
        self.arrivals_before = 0  # how many messages, or competing requests, had arrived when the point was decided

    def values(self) -> list[tuple[Any, Any]]:
        """Return the values that the point may take now, as (key, value); keys are the same in every run."""
        raise NotImplementedError

    def take(self, value: Any, bit: int) -> int:
        """Take a value; return the choices of which the task learns by receiving this value."""
        raise NotImplementedError

    def has_blocked_value(self) -> bool:
        """Whether there is a value that this point may take only after another point has taken one."""
        return False

    def is_known(self) -> bool:
        """Whether an earlier call has shown the task that a value is available, so that MPI does not allow "not yet"."""
        return False

    def late(self) -> Iterator[int | None]:
        """Yield the causal past of each value that arrived after the decision; None if it is unknown."""
        raise NotImplementedError

    def late_candidates(self) -> Any:
        """Describe the values that may be late: None for none, True for any, or a tuple that `could_be_late` compares."""
        return True

    def subject(self) -> str:
        """Return a description: `rank 0's recv at queue.py:12`."""
        return f"{self.process.name}'s {self.call} at {self.place}"

    def describe(self, value: Any) -> tuple[str, str]:
        """Return a verb and an object that describe the choice: ("took", "rank 2's message")."""
        raise NotImplementedError

    def _sender(self, envelope: Envelope) -> str:
        name = self.process.universe.processes[envelope.out.number].name
        whose = f"the message of {name}" if " of " in name else f"{name}'s message"
        return f"{whose} (tag {envelope.tag})" if self.any_tag and envelope.tag else whose

    any_tag = False


class MailboxPoint(Point):
    """A point that takes or probes messages."""

    def __init__(
        self, choices: Any, key: Any, process: Any, past: int, call_site: tuple[str, str], receive: PostedReceive
    ) -> None:
        super().__init__(choices, key, process, past, call_site)
        self.receive: PostedReceive = receive
        self.box: Any = receive.box
        self.any_tag = receive.tag < 0
        self.sources: set[int] = set()  # sources of the messages that were available when its values were last requested

    def available(self) -> list[Envelope]:
        """Return the messages that the point may take now: those that no earlier receive matches."""
        box = self.box
        return [envelope for envelope in box.candidates(self.receive) if box.first_for(envelope) is self._own_receive]

    _own_receive: Any = None  # the posted receive of a receive; a probe posts none

    def values(self) -> list[tuple[Any, Any]]:
        """Return one message per source."""
        envelopes = self.available()
        self.sources = {envelope.source for envelope in envelopes}
        return [(self.choices.message_record(envelope).key, envelope) for envelope in envelopes]

    def has_blocked_value(self) -> bool:
        """Whether a message matches this point, but also a receive that was posted earlier and has priority."""
        sources, matches = self.sources, self.receive.matches
        return any(envelope.source not in sources and matches(envelope) for envelope in self.box.unexpected)

    def decided(self) -> None:
        """Record how many messages have arrived; `sources` are those of the messages that were available."""
        self.arrivals_before = len(self.choices.arrivals_at(self.box))

    def late(self) -> Iterator[int | None]:
        """Yield the past of late messages from other sources.

        A late message from a source that already had a message could not have been taken, because messages of one source
        are received in order.
        """
        for envelope in self.choices.arrivals_at(self.box)[self.arrivals_before :]:
            if envelope.source not in self.sources and self.receive.matches(envelope):
                yield self.choices.message_record(envelope).past

    def late_candidates(self) -> Any:
        """Return (process, source, tag, sources): messages from sources other than those in `sources` may be late."""
        return self.box.owner, self.receive.source, self.receive.tag, frozenset(self.sources)


class Receive(MailboxPoint):
    """A receive from any source."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._own_receive = self.receive

    def take(self, value: Any, bit: int) -> int:
        """Match the message."""
        self.decided()
        learned: int = self.choices.message_record(value).past
        self.choices.match(self.box, value, self.receive, bit | self.past | learned)
        return learned

    def describe(self, value: Any) -> tuple[str, str]:
        """Return "took" and the message."""
        return "took", self._sender(value)


class CallPoint(Point):
    """A call whose task waits for the choice."""

    task: Any = None

    def take(self, value: Any, bit: int) -> int:
        """Let the task continue with the value."""
        self.decided()
        self.answer = value
        self.choices.resume_task(self)
        return self.learned(value)

    def decided(self) -> None:
        """Record the available values."""

    def learned(self, value: Any) -> int:
        """Return the choices of which the task learns from this answer."""
        raise NotImplementedError


class Probe(CallPoint, MailboxPoint):
    """A probe.

    `takes` is true for Mprobe and Improbe. Unless `identifies`, the program cannot see which message was found, and all
    matching messages are one value.
    """

    def __init__(self, choices: Any, key: Any, process: Any, past: int, call_site: Any, receive: PostedReceive, polls: bool,
                 takes: bool, identifies: bool) -> None:  # fmt: skip
        super().__init__(choices, key, process, past, call_site, receive)
        self.polls, self.takes, self.identifies = polls, takes, takes or identifies
        self.seen: list[Envelope] = []

    def values(self) -> list[tuple[Any, Any]]:
        """Return one message per source, or a single one."""
        values = super().values()
        return values if self.identifies else [("there", envelope) for _, envelope in values[:1]]

    def decided(self) -> None:
        """Record the available messages."""
        MailboxPoint.decided(self)
        self.seen = self.available()

    def is_known(self) -> bool:
        """Whether an earlier probe has shown that there is a message."""
        return self.choices.probe_results.must_find(self.receive) and bool(self.available())

    def take(self, value: Any, bit: int) -> int:
        """Let the task continue; Mprobe takes the message."""
        self.choices.log.setdefault(self.box, []).append(("probe", self.receive))
        learned = super().take(value, bit)
        if value is NOT_YET:
            return learned
        if self.takes:
            self.choices.probe_results.may_be_taken(self.receive, already_taken=True)
            self.box.take(value)
            self.choices.match_determined(self.box)
        else:
            self.choices.probe_results.record(self.receive, value, self.identifies)
        return learned

    def learned(self, value: Any) -> int:
        """Return the past of the message; if the program does not see which one it is, the common past of all candidates."""
        if value is NOT_YET:
            return 0
        past: int = self.choices.message_record(value).past
        for envelope in () if self.identifies else self.seen:
            past &= self.choices.message_record(envelope).past
        return past

    def describe(self, value: Any) -> tuple[str, str]:
        """Return "found" and the message, or "reported" and "not yet"."""
        return ("reported", '"not yet"') if value is NOT_YET else ("found", self._sender(value))


class Requests(CallPoint):
    """A call on one or more requests, which reports "all" of them, "any" of the completed ones, or "some"."""

    def __init__(self, choices: Any, key: Any, process: Any, past: int, call_site: Any, requests: Sequence[Any], how: str,
                 polls: bool, keeps: bool) -> None:  # fmt: skip
        super().__init__(choices, key, process, past, call_site)
        self.keeps = keeps  # whether requests stay active (Get_status)
        self.operations = {i: request._operation for i, request in enumerate(requests) if request._operation is not None}
        self.polls, self.how = polls, how
        self.completed_before: set[int] = set()  # indices of the requests that had completed when the point was decided

    def ended(self) -> list[int]:
        """Return the indices of completed requests, in order of completion."""
        now = self.choices.loop.now
        ended = [i for i, operation in self.operations.items() if operation.end is not None and operation.end <= now]
        return sorted(ended, key=lambda i: self.operations[i].end)

    def values(self) -> list[tuple[Any, Any]]:
        """Return the possible answers."""
        return [(answer, answer) for answer in self.answers(self.ended())]

    def answers(self, ended: list[int]) -> list[Any]:
        """Return the possible answers if these requests have completed. Each of "some" has all that are known."""
        if self.how == "any":
            return ended
        if self.how == "all":
            return [tuple(self.operations)] if ended and len(ended) == len(self.operations) else []
        known = {i for i in ended if self.operations[i] in self.choices.ended}
        if len(ended) - len(known) > MAX_FOR_SUBSETS:
            what = f"the choice among more than {MAX_FOR_SUBSETS} completed requests in Waitsome and Testsome"
            self.choices.note_unexplored(what)
        return some_of(ended, known)

    def decided(self) -> None:
        """Record which requests have completed."""
        self.completed_before = set(self.ended())

    def take(self, value: Any, bit: int) -> int:
        """Let the task continue. If Get_status reported completion, remember that later tests must report it as well."""
        learned = super().take(value, bit)
        if self.keeps:
            self.choices.ended.update(self.operations[i] for i in self.reported(value))
        return learned

    def reported(self, value: Any) -> Sequence[int]:
        """Return the indices of the requests that the answer reports as complete."""
        return () if value is NOT_YET else (value,) if isinstance(value, int) else value

    def late(self) -> Iterator[int | None]:
        """Yield the past of each request that has completed since the decision; of all together if all are needed."""
        later = [operation for i, operation in self.operations.items() if i not in self.completed_before]
        completed_since = [operation for operation in later if operation.end is not None]
        if self.how == "all":
            if completed_since and all(operation.end is not None for operation in self.operations.values()):
                known = [self.choices.learned_of(operation) for operation in self.operations.values()]
                yield None if None in known else union(known)
        else:
            yield from (self.choices.learned_of(operation) for operation in completed_since)

    def late_candidates(self) -> Any:
        """Return True if some requests had not completed at the decision, otherwise None."""
        return True if len(self.completed_before) < len(self.operations) else None

    def is_known(self) -> bool:
        """Whether Get_status or Parrived has reported completion of one of them, or of all if all are awaited."""
        known = [operation in self.choices.ended for operation in self.operations.values()]
        return bool(known) and (all(known) if self.how == "all" else any(known))

    def learned(self, value: Any) -> int:
        """Return the past of the requests that the answer names."""
        return union(self.choices.learned_of(self.operations[i]) for i in self.reported(value))

    def describe(self, value: Any) -> tuple[str, str]:
        """Return a verb and the requests that the call returned, or "reported" and "not yet"."""
        if value is NOT_YET:
            return "reported", '"not yet"'
        if len(self.operations) == 1 and self.polls:
            return "reported", "completion"
        if self.how == "all":
            return "reported", "that all requests had completed"
        *first, last = map(str, self.reported(value))
        return "returned", f"request{'s' * bool(first)} {', '.join(first)}{' and ' * bool(first)}{last}"


class Arrival(Requests):
    """Parrived, and a window's Test.

    `awaited` returns the operations that must complete. The list may change: the messages of a partition are known only
    after the send has started.
    """

    def __init__(self, choices: Any, key: Any, process: Any, past: int, call_site: Any, awaited: Callable[[], Any]) -> None:
        super().__init__(choices, key, process, past, call_site, (), "all", True, True)
        self.awaited = awaited
        self.ended()

    def ended(self) -> list[int]:
        """Return the indices of completed operations among those known now."""
        self.operations = dict(enumerate(self.awaited()))
        return super().ended()

    def late(self) -> Iterator[int | None]:
        """Yield the past of all operations together if all have completed since the decision."""
        self.ended()
        return super().late()

    def describe(self, value: Any) -> tuple[str, str]:
        """Return "reported" and "completion" or "not yet"."""
        return "reported", '"not yet"' if value is NOT_YET else "completion"


class ThreadLock(CallPoint):
    """A thread that acquires a lock. All locks are one resource, because locks have no identity across runs."""

    def __init__(self, choices: Any, key: Any, process: Any, past: int, call_site: Any, lock: Any, is_free: Any,
                 name: str) -> None:  # fmt: skip
        super().__init__(choices, key, process, past, call_site)
        self.resource = ("lock",)
        self.lock, self.is_free, self.name = lock, is_free, name
        self.requests: list[ThreadLock] = choices.lockings
        self.requests.append(self)

    def values(self) -> list[tuple[Any, Any]]:
        """Return one value if the lock is free."""
        return [("lock", True)] if self.is_free() else []

    def decided(self) -> None:
        """Record the number of lock requests."""
        self.arrivals_before = len(self.requests)

    def late(self) -> Iterator[int | None]:
        """Yield the past of later requests of other threads for the same lock, which could have been granted first."""
        yield from (
            request.past
            for request in self.requests[self.arrivals_before :]
            if request.lock is self.lock and request.task is not self.task
        )

    def learned(self, value: Any) -> int:
        """Return the empty set: the choices of which the task learns are unknown."""
        return 0

    def subject(self) -> str:
        """Return a description: `thread 'reader' of rank 0`."""
        return self.name

    def describe(self, value: Any) -> tuple[str, str]:
        """Return "acquired" and the lock."""
        return "acquired", f"the lock at {self.place}"


class FilePointer(CallPoint):
    """An access to the shared pointer of a file. Its effects are visible in the file, which is not tracked."""

    def __init__(self, choices: Any, key: Any, process: Any, past: int, call_site: Any) -> None:
        super().__init__(choices, key, process, past, call_site)
        choices.untracked_effects.add("shared file pointers")

    def values(self) -> list[tuple[Any, Any]]:
        """Return one value: the access is always possible."""
        return [("turn", True)]

    def late(self) -> Iterator[int | None]:
        """Yield None: a later access may race with this one, and its past is unknown."""
        yield None

    def learned(self, value: Any) -> int:
        """Return the empty set: the choices of which the task learns are unknown."""
        return 0

    def describe(self, value: Any) -> tuple[str, str]:
        """Return "accessed" and the pointer."""
        return "accessed", "the shared file pointer"


def some_of(ended: list[int], known: Set[int]) -> list[Any]:
    """Return subsets of the completed requests with all known ones, in the order of the requests, the largest first."""
    open_ones = sorted(set(ended) - known)
    least = 0 if known else 1
    sizes = range(len(open_ones), least - 1, -1) if len(open_ones) <= MAX_FOR_SUBSETS else [len(open_ones), least]
    return [tuple(sorted({*subset, *known})) for size in sizes for subset in combinations(open_ones, size)]
