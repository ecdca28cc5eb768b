"""What ranks have been told so far, as one number: equal where all that can still happen is the same.

A program is taken to be deterministic: what a rank does hangs on what its calls gave to it. When nothing else can happen,
every task has gone as far as it can, so where everybody stands hangs on this alone: what every receive got, which messages
are gone, what calls were answered, and, where clocks move, when tasks went on. What lies in mailboxes was sent and is not
gone. Two receives that were given the same bytes and did not ask by whom got the same. The order of what commutes does not
show.

There is no such number where ranks learn by other ways than these; `unknown` has them in words.
"""

from __future__ import annotations

import pickle
from typing import Any

from fakempi.wire.envelope import Envelope, Pattern

EVERYBODY = ("met",)
"""Happens where ranks meet: each may hear of all that any of them knows."""

Event = tuple[Any, ...]
"""("came", process, source, tag): a message at a mailbox; ("heard", process, process): the second may learn of the first."""


class Told:
    """Of one run: the number so far, and what happened after how many choices."""

    def __init__(self) -> None:
        self.number = 0
        self.unknown: set[str] = set()
        self.events: list[tuple[int, Event]] = []
        self._known: dict[Pattern, tuple[int, int]] = {}  # of wildcards: what they got, by whom and by its bytes
        self._passed: list[Pattern] = []  # of which it is certain now whether somebody asked by whom

    def matched(self, envelope: Envelope, sender: Any, pattern: Pattern, receiver: Any) -> None:
        """A message is gone, and a receive has got it; one after Mprobe has no key, for that has told everything."""
        self.number ^= mark("gone", sender)
        if receiver is None:
            return
        got = mark("got", receiver, sender)
        self.number ^= got
        if pattern.source < 0:
            content = content_of(envelope)
            if content is not envelope:
                self._known[pattern] = got, mark("got", receiver, envelope.tag, envelope.nbytes, content)

    def passed(self, pattern: Any) -> None:
        """Whoever waited for a receive goes on."""
        if pattern in self._known:
            self._passed.append(pattern)

    def state(self, now: Any, lives: Any, said_not_yet: Any, findings: Any) -> int:
        """The number of all that is to be known."""
        for pattern in self._passed:
            if not getattr(pattern, "told", False):
                by_whom, by_bytes = self._known[pattern]
                self.number ^= by_whom ^ by_bytes
        self._passed.clear()
        tasks = frozenset(
            (one.key, one.sent, one.awaited, one.asked, one.children, one.answers, one.times) for one in lives.values()
        )  # fmt: skip
        not_yet = frozenset((lives[task].key, *where, often) for (task, *where), often in said_not_yet.items())
        wrong = frozenset((one.kind, one.ranks, one.call, one.place, one.sentence) for one in findings if not one.note)
        return mark(self.number, now, tasks, not_yet, wrong)


def mark(*what: Any) -> int:
    """A number of 128 bits, as good as one of its own for everything that differs."""
    return hash((what, 1)) << 64 ^ hash((2, what))


def content_of(envelope: Envelope) -> Any:
    """What can be compared; of what cannot, the envelope itself, which is like no other."""
    content = envelope.content
    if isinstance(content, bytes):
        return content
    if isinstance(content, tuple):  # what cannot be changed is not pickled when it is sent
        return pickle.dumps(content)
    if type(content).__name__ == "ndarray" and not content.dtype.hasobject:
        return content.dtype.str, content.shape, content.tobytes()
    return envelope
