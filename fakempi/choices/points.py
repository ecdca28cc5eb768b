"""Places where something is open: a wildcard receive, a probe, a call that gives one or some of many requests, a test.

A point has values, of which it takes one; more of them may come as others go on. `late` tells of those that came when the
point was decided already, by what each of them hangs on: had the point waited, it could have taken them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

from fakempi.choices.past import union
from fakempi.wire.envelope import Envelope, Pattern

NOT_YET = "not yet"
"""What a test or a probe that does not wait may say though there is something."""

SUBSETS = 4
"""Requests that have ended, of which Waitsome and Testsome may give any; of more, all, or one."""


class Point:
    """Where something is open: who it is in every run, its process, the call and the line of the program."""

    polls = False

    def __init__(self, choices: Any, key: Any, process: Any, past: int, site: tuple[str, str]) -> None:
        self.choices, self.key, self.process, self.past = choices, key, process, past
        self.resource = key  # what it shares with points that it has to do with, in every run
        self.call, self.place = site
        self.answer: Any = None
        self.since = 0  # how much had come to the mailbox when it was decided

    def values(self) -> list[tuple[Any, Any]]:
        """What it may take now: (who that is in every run, the value)."""
        raise NotImplementedError

    def take(self, value: Any, bit: int) -> int:
        """Take one; returns what the taker learns, besides that."""
        raise NotImplementedError

    def hides(self) -> bool:
        """Whether there is something that it may take only when another point has taken something."""
        return False

    def late(self) -> Iterator[int | None]:
        """What values hang on that have come since it was decided; None if that is not known."""
        raise NotImplementedError

    def lacks(self) -> Any:
        """Once it is decided, what may still come too late for it: None for nothing, True for anything, or what
        `may_be_late` takes."""
        return True

    def who(self) -> str:
        """`rank 0's recv at queue.py:12`."""
        return f"{self.process.name}'s {self.call} at {self.place}"

    def words(self, value: Any) -> tuple[str, str]:
        """What it did, and what it did it with: ("took", "rank 2's message")."""
        raise NotImplementedError

    def _sender(self, envelope: Envelope) -> str:
        name = self.process.universe.processes[envelope.out.number].name
        whose = f"the message of {name}" if " of " in name else f"{name}'s message"
        return f"{whose} (tag {envelope.tag})" if self.asks_for_tags and envelope.tag else whose

    asks_for_tags = False


class AtMailbox(Point):
    """A point that takes messages, or looks at them."""

    def __init__(self, choices: Any, key: Any, process: Any, past: int, site: tuple[str, str], pattern: Pattern) -> None:
        super().__init__(choices, key, process, past, site)
        self.pattern: Pattern = pattern
        self.box: Any = pattern.box
        self.asks_for_tags = pattern.tag < 0
        self.sources: set[int] = set()  # of what it could take when it was decided

    def open_to(self) -> list[Envelope]:
        """The messages that it may have now."""
        return [envelope for envelope in self.box.firsts(self.pattern) if self.box.first_for(envelope) is self._first]

    _first: Any = None

    def values(self) -> list[tuple[Any, Any]]:
        """One for each source."""
        return [(self.choices.half(envelope).key, envelope) for envelope in self.open_to()]

    def hides(self) -> bool:
        """Whether a message lies there that another receive may take, or leave to this one."""
        sources = {envelope.source for envelope in self.open_to()}
        return any(envelope.source not in sources for envelope in self.box.here if self.pattern.fits(envelope))

    def decided(self) -> None:
        """Remember what there was."""
        self.sources = {envelope.source for envelope in self.open_to()}
        self.since = len(self.choices.arrivals_at(self.box))

    def late(self) -> Iterator[int | None]:
        """Messages of other sources; those of the same come after what it could have taken."""
        for envelope in self.choices.arrivals_at(self.box)[self.since :]:
            if envelope.source not in self.sources and self.pattern.fits(envelope):
                yield self.choices.half(envelope).past


    def lacks(self) -> Any:
        """Messages of other sources."""
        return self.box.owner, self.pattern.source, self.pattern.tag, frozenset(self.sources)


class Receive(AtMailbox):
    """A receive from any source."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._first = self.pattern

    def take(self, value: Any, bit: int) -> int:
        """The two are matched."""
        self.decided()
        learned: int = self.choices.half(value).past
        self.choices.match(self.box, value, self.pattern, bit | self.past | learned)
        return learned

    def words(self, value: Any) -> tuple[str, str]:
        """It took a message."""
        return "took", self._sender(value)


class Call(Point):
    """A call in which a task waits for what is chosen."""

    task: Any = None

    def take(self, value: Any, bit: int) -> int:
        """The task goes on with it."""
        self.decided()
        self.answer = value
        self.choices.go_on(self)
        return self.learned(value)

    def decided(self) -> None:
        """Remember what there was."""

    def learned(self, value: Any) -> int:
        """What the task learns by this answer."""
        raise NotImplementedError


class Looking(Call, AtMailbox):
    """A probe. If it does not tell what it has seen, all that it may see is one."""

    def __init__(self, choices: Any, key: Any, process: Any, past: int, site: Any, pattern: Pattern, polls: bool,
                 takes: bool, tells: bool) -> None:  # fmt: skip
        super().__init__(choices, key, process, past, site, pattern)
        self.polls, self.takes, self.tells = polls, takes, takes or tells
        self.seen: list[Envelope] = []

    def values(self) -> list[tuple[Any, Any]]:
        """One for each source, or just one."""
        found = super().values()
        return found if self.tells else [("there", envelope) for _, envelope in found[:1]]

    def decided(self) -> None:
        """Remember what there was."""
        AtMailbox.decided(self)
        self.seen = self.open_to()

    def take(self, value: Any, bit: int) -> int:
        """The task goes on, and may have taken the message."""
        self.choices.log.setdefault(self.box, []).append(("look", self.pattern))
        learned = super().take(value, bit)
        if self.takes and value is not NOT_YET:
            self.box.take(value)
            self.choices.stir(self.box)
        return learned

    def learned(self, value: Any) -> int:
        """That it was sent; if it is not told which one, what is true of all."""
        if value is NOT_YET:
            return 0
        past: int = self.choices.half(value).past
        for envelope in () if self.tells else self.seen:
            past &= self.choices.half(envelope).past
        return past

    def words(self, value: Any) -> tuple[str, str]:
        """It saw a message, or none."""
        return ("said", '"not yet"') if value is NOT_YET else ("saw", self._sender(value))


class Requests(Call):
    """A call on many requests, or one; `open_to` says what it may answer, of those that have ended."""

    def __init__(self, choices: Any, key: Any, process: Any, past: int, site: Any, requests: Sequence[Any], polls: bool,
                 open_to: Callable[[list[int]], list[Any]], together: bool = False) -> None:  # fmt: skip
        super().__init__(choices, key, process, past, site)
        self.operations = {i: one._operation for i, one in enumerate(requests) if one._operation is not None}
        self.polls, self.open_to, self.together = polls, open_to, together
        self.before: set[int] = set()

    def ended(self) -> list[int]:
        """Which have, the first to have ended first."""
        now = self.choices.loop.now
        found = [i for i, one in self.operations.items() if one.end is not None and one.end <= now]
        return sorted(found, key=lambda i: self.operations[i].end)

    def values(self) -> list[tuple[Any, Any]]:
        """What it may answer."""
        ended = self.ended()
        if len(ended) > SUBSETS and self.open_to is some_of:
            self.choices.leaves_out(f"which of more than {SUBSETS} requests Waitsome and Testsome give")
        return [(answer, answer) for answer in self.open_to(ended)]

    def decided(self) -> None:
        """Remember which had ended."""
        self.before = set(self.ended())

    def late(self) -> Iterator[int | None]:
        """Requests that have ended since."""
        since = [one for i, one in self.operations.items() if i not in self.before and one.end is not None]
        if self.together:
            if since and all(one.end is not None for one in self.operations.values()):
                known = [self.choices.learned_of(one) for one in self.operations.values()]
                yield None if None in known else union(known)
        else:
            yield from (self.choices.learned_of(one) for one in since)

    def lacks(self) -> Any:
        """The others."""
        return True if len(self.before) < len(self.operations) else None

    def learned(self, value: Any) -> int:
        """That these have ended."""
        given = [] if value is NOT_YET else [value] if isinstance(value, int) else value
        return union(self.choices.learned_of(self.operations[i]) for i in given)

    def words(self, value: Any) -> tuple[str, str]:
        """It gave these, or none."""
        if value is NOT_YET:
            return "said", '"not yet"'
        if len(self.operations) == 1 and self.polls:
            return "said", "yes"
        if self.together:
            return "said", "that all had ended"
        some = [value] if isinstance(value, int) else value
        *first, last = map(str, some)
        return "gave", f"request{'s' * bool(first)} {', '.join(first)}{' and ' * bool(first)}{last}"


class Arrival(Requests):
    """Parrived: whether all messages are there that reach into a partition, which are known only when the send is."""

    def __init__(self, choices: Any, key: Any, process: Any, past: int, site: Any, messages: Callable[[], Any]) -> None:
        super().__init__(choices, key, process, past, site, (), True, self._all, True)
        self.messages = messages
        self.ended()

    def ended(self) -> list[int]:
        """Which of those have that are known now."""
        self.operations = dict(enumerate(self.messages()))
        return super().ended()

    def _all(self, ended: list[int]) -> list[Any]:
        return all_of(ended, len(self.operations))

    def late(self) -> Iterator[int | None]:
        """Those that have come since, if now all have."""
        self.ended()
        return super().late()

    def words(self, value: Any) -> tuple[str, str]:
        """Yes, or not yet."""
        return "said", '"not yet"' if value is NOT_YET else "yes"


class Locking(Call):
    """A thread that wants a lock. All locks are one resource: which is which cannot be told from run to run."""

    def __init__(self, choices: Any, key: Any, process: Any, past: int, site: Any, lock: Any, is_free: Any,
                 who: str) -> None:  # fmt: skip
        super().__init__(choices, key, process, past, site)
        self.resource = ("lock",)
        self.lock, self.is_free, self.name = lock, is_free, who
        self.asked: list[Locking] = choices.lockings
        self.asked.append(self)

    def values(self) -> list[tuple[Any, Any]]:
        """It, if nobody has it."""
        return [("lock", True)] if self.is_free() else []

    def decided(self) -> None:
        """Remember who had asked."""
        self.since = len(self.asked)

    def late(self) -> Iterator[int | None]:
        """Others that wanted the same lock later, and could have had it sooner."""
        yield from (one.past for one in self.asked[self.since :] if one.lock is self.lock and one.task is not self.task)

    def learned(self, value: Any) -> int:
        """Nothing that we saw."""
        return 0

    def who(self) -> str:
        """`thread 'reader' of rank 0`."""
        return self.name

    def words(self, value: Any) -> tuple[str, str]:
        """It got the lock."""
        return "got", f"the lock at {self.place}"


class AtPointer(Call):
    """A rank that comes to the shared pointer of a file. What comes of it others learn from the file: nothing is known."""

    def __init__(self, choices: Any, key: Any, process: Any, past: int, site: Any) -> None:
        super().__init__(choices, key, process, past, site)
        choices.unseen.add("shared file pointers")

    def values(self) -> list[tuple[Any, Any]]:
        """It is its turn whenever it is chosen."""
        return [("turn", True)]

    def late(self) -> Iterator[int | None]:
        """Anything may be."""
        yield None

    def learned(self, value: Any) -> int:
        """Nothing that we saw."""
        return 0

    def words(self, value: Any) -> tuple[str, str]:
        """It came there."""
        return "came", "to the shared pointer"


def all_of(ended: list[int], whole: int) -> list[Any]:
    """All of so many, if they are there."""
    return [tuple(range(whole))] if whole and len(ended) == whole else []


def one_of(ended: list[int]) -> list[Any]:
    """Any one."""
    return list(ended)


def some_of(ended: list[int]) -> list[Any]:
    """All of them, or fewer: in the order of the requests."""
    listed = sorted(ended)
    sizes = range(len(listed), 0, -1) if len(listed) <= SUBSETS else [len(listed), 1]
    return [subset for size in sizes for subset in combinations(listed, size)]
