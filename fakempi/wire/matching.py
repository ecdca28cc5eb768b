"""A mailbox: patterns that wait for an envelope, envelopes that wait for a pattern, matched in order.

Exact patterns are found by (source, tag) in one dictionary look-up; only where wildcards are in use is anything scanned.
Of several that fit, the earliest posted pattern takes the earliest arrived envelope, which keeps messages between two
processes in order.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from fakempi.wire.envelope import Envelope, Pattern

Chains = dict[tuple[int, int], Any]
"""(source, tag) -> the first of a chain of envelopes or patterns, linked by `next`; the first knows the `last`."""


def append(chains: Chains, item: Any) -> None:
    """Put an item at the end of its chain."""
    item.next = None
    key = (item.source, item.tag)
    first = chains.get(key)
    if first is None:
        chains[key] = item.last = item
    else:
        first.last.next = item
        first.last = item


def drop_first(chains: Chains, item: Any) -> None:
    """Take away an item that is the first of its chain."""
    following = item.next
    if following is None:
        del chains[item.source, item.tag]
    else:
        following.last = item.last
        chains[item.source, item.tag] = following
        item.next = None


def remove(chains: Chains, item: Any) -> bool:
    """Take away an item wherever it stands in its chain; False if it is not there."""
    first: Any = chains.get((item.source, item.tag))
    link = first
    while link is not None and link is not item:
        before, link = link, link.next
    if link is None:
        return False
    if link is first:
        drop_first(chains, item)
    else:
        before.next = item.next
        if first.last is item:
            first.last = before
    return True


class Mailbox:
    """What has arrived and what is awaited at one process, in one context.

    Most mailboxes hold at most one envelope and one pattern at a time. Such a lone one stands in a slot of its own and
    moves to the chains when a second one comes, which spares most messages the dictionaries (a fifth of their time).
    """

    __slots__ = (
        "arrivals", "delayed", "exact", "into", "latest", "lone_envelope", "lone_pattern", "name", "order", "owner",
        "pending", "probes", "wild", "wildcards",
    )  # fmt: skip

    def __init__(self, owner: int, into: Any, name: Any = None) -> None:
        self.owner = owner  # the number of the process
        self.into = into  # its in-port
        self.name = name  # for whoever asks what this mailbox is
        self.lone_pattern: Pattern | None = None  # the only one, if there is only one
        self.exact: Chains | None = None  # otherwise: patterns with neither wildcard
        self.wild: list[Pattern] | None = None  # and those with one, in posting order
        self.lone_envelope: Envelope | None = None  # the only one, if there is only one
        self.pending: Chains | None = None  # otherwise: envelopes that nobody took
        self.order: deque[Envelope] | None = None  # the same in order of arrival, once a wildcard was used
        self.probes: list[Pattern] | None = None  # patterns that only look
        self.delayed: dict[int, deque[Envelope]] | None = None  # by source: sent, but held up on the way
        self.latest: dict[int, Any] | None = None  # by source: when the last of it arrives, where that is not plain
        self.arrivals = 0
        self.wildcards: Any = None  # what whoever made this mailbox wants to remember of them

    def arrive(self, envelope: Envelope) -> Pattern | None:
        """An envelope is there: the pattern that takes it, or None and it stays."""
        pattern = self.lone_pattern
        if pattern is not None:
            if (pattern.source == envelope.source or pattern.source < 0) and (
                pattern.tag == envelope.tag or pattern.tag < 0
            ):
                self.lone_pattern = None
                return pattern
        elif self.exact or self.wild:
            pattern = self._take_pattern(envelope)
            if pattern is not None:
                return pattern
        if self.lone_envelope is None and not self.pending:
            self.lone_envelope = envelope
        else:
            self.keep_envelope(envelope)
        return None

    def expect(self, pattern: Pattern) -> Envelope | None:
        """A pattern is posted: the envelope that it takes, or None and it waits."""
        envelope = self.lone_envelope
        if envelope is not None:
            if (pattern.source == envelope.source or pattern.source < 0) and (
                pattern.tag == envelope.tag or pattern.tag < 0
            ):
                self.lone_envelope = None
                return envelope
        elif self.pending:
            envelope = self.find(pattern.source, pattern.tag)
            if envelope is not None:
                self._drop_envelope(envelope)
                return envelope
        if self.lone_pattern is None and not self.exact and not self.wild:
            self.lone_pattern = pattern
        else:
            self._keep_pattern(pattern)
        return None

    def find(self, source: int, tag: int) -> Envelope | None:
        """The first envelope to have arrived that fits; it stays where it is."""
        lone = self.lone_envelope
        if lone is not None:
            return lone if (source < 0 or source == lone.source) and (tag < 0 or tag == lone.tag) else None
        if not self.pending:
            return None
        if source >= 0 and tag >= 0:
            return self.pending.get((source, tag))
        if self.order is None:
            self.order = deque(sorted(self.envelopes(), key=lambda envelope: envelope.number))
        for envelope in self.order:
            if (source < 0 or source == envelope.source) and (tag < 0 or tag == envelope.tag):
                return envelope
        return None

    def is_empty(self) -> bool:
        """Whether there is nothing that nobody took, and nothing is awaited."""
        lone = self.lone_envelope is not None or self.lone_pattern is not None
        return not (lone or self.pending or self.exact or self.wild)

    def envelopes(self) -> list[Envelope]:
        """All that nobody took, sender by sender."""
        return [self.lone_envelope] if self.lone_envelope is not None else _links(self.pending)

    def patterns(self) -> list[Pattern]:
        """All that is awaited."""
        return [self.lone_pattern] if self.lone_pattern is not None else _links(self.exact) + (self.wild or [])

    def withdraw(self, item: Envelope | Pattern) -> bool:
        """Take an item out again that has not been matched; False if it has been."""
        if item is self.lone_pattern:
            self.lone_pattern = None
        elif item is self.lone_envelope:
            self.lone_envelope = None
        elif isinstance(item, Envelope):
            return self._drop_envelope(item)
        elif self.wild and item in self.wild:
            self.wild.remove(item)
        else:
            return bool(self.exact) and remove(self.exact, item)  # type: ignore[arg-type]
        return True

    # -- more than one --------------------------------------------------------------------------------------------

    def _take_pattern(self, envelope: Envelope) -> Pattern | None:
        """Of the patterns that fit, the first to have been posted."""
        pattern: Pattern | None = self.exact.get((envelope.source, envelope.tag)) if self.exact else None
        for wild in self.wild or ():
            if wild.fits(envelope):
                if pattern is None or wild.number < pattern.number:
                    self.wild.remove(wild)  # type: ignore[union-attr]
                    return wild
                break
        if pattern is not None:
            drop_first(self.exact, pattern)  # type: ignore[arg-type]
        return pattern

    def _keep_pattern(self, pattern: Pattern) -> None:
        """Put a pattern, and before it the one that was alone, where many are."""
        lone, self.lone_pattern = self.lone_pattern, None
        for each in (pattern,) if lone is None else (lone, pattern):
            self.arrivals = each.number = self.arrivals + 1
            if each.source < 0 or each.tag < 0:
                if self.wild is None:
                    self.wild = []
                self.wild.append(each)
            else:
                if self.exact is None:
                    self.exact = {}
                append(self.exact, each)

    def keep_envelope(self, envelope: Envelope) -> None:
        """Put an envelope, and before it the one that was alone, where many are."""
        lone, self.lone_envelope = self.lone_envelope, None
        if self.pending is None:
            self.pending = {}
        for each in (envelope,) if lone is None else (lone, envelope):
            self.arrivals = each.number = self.arrivals + 1
            append(self.pending, each)
            if self.order is not None:
                self.order.append(each)

    def _drop_envelope(self, envelope: Envelope) -> bool:
        """Take an envelope away from the many; False if it is not there."""
        if not self.pending or not remove(self.pending, envelope):
            return False
        order = self.order
        if order is None:
            return True
        if order[0] is envelope:
            order.popleft()
        elif order[-1] is envelope:
            order.pop()
        elif len(order) < 64:
            order.remove(envelope)
        else:
            self.order = None  # far from both ends: rebuilt by the next wildcard, if there is one
        return True


def _links(chains: Chains | None) -> list[Any]:
    found = []
    for first in (chains or {}).values():
        link = first
        while link is not None:
            found.append(link)
            link = link.next
    return found
