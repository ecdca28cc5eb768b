"""Mailboxes, which match messages with receives. An envelope is a message; a pattern is a posted receive or a probe.

A pattern without wildcards is found by (source, tag) in one dictionary look-up; only wildcards need a search. An arriving
envelope is matched with the matching pattern that was posted first. A new pattern is matched with the matching envelope that
arrived first. So messages between two processes stay in order.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from fakempi.core.network.envelope import Envelope, Pattern

Chains = dict[tuple[int, int], Any]
"""(source, tag) -> the first element of a linked list of envelopes or patterns.

Each element refers to the following one by `next`. The first element refers to the last one by `last`.
"""


def append(chains: Chains, item: Any) -> None:
    """Append an item to the list of its source and tag."""
    item.next = None
    key = (item.source, item.tag)
    first = chains.get(key)
    if first is None:
        chains[key] = item.last = item
    else:
        first.last.next = item
        first.last = item


def drop_first(chains: Chains, item: Any) -> None:
    """Remove an item that is the first element of its list."""
    following = item.next
    if following is None:
        del chains[item.source, item.tag]
    else:
        following.last = item.last
        chains[item.source, item.tag] = following
        item.next = None


def remove(chains: Chains, item: Any) -> bool:
    """Remove an item from its list; return False if the list does not contain it."""
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
    """The unmatched envelopes and patterns of one process in one context.

    Most mailboxes have at most one envelope and one pattern at a time. A lone envelope or pattern is stored in an attribute,
    and moves to the lists when a second one arrives. So most messages need no dictionary, which saves a fifth of their time.
    """

    __slots__ = (
        "arrivals", "delayed", "exact", "into", "latest", "lone_envelope", "lone_pattern", "name", "order", "owner",
        "pending", "probes", "wild", "wildcards",
    )  # fmt: skip

    def __init__(self, owner: int, into: Any, name: Any = None) -> None:
        self.owner = owner  # the number of the process
        self.into = into  # the input port of the process
        self.name = name  # the context that the mailbox belongs to
        self.lone_pattern: Pattern | None = None  # the pattern, while there is only one
        self.exact: Chains | None = None  # several patterns: those without wildcards
        self.wild: list[Pattern] | None = None  # several patterns: those with wildcards, in the order of posting
        self.lone_envelope: Envelope | None = None  # the envelope, while there is only one
        self.pending: Chains | None = None  # several envelopes
        self.order: deque[Envelope] | None = None  # the envelopes of `pending` in order of arrival, for wildcards
        self.probes: list[Pattern] | None = None  # patterns of probes, which match an envelope without receiving it
        self.delayed: dict[int, deque[Envelope]] | None = None  # source -> envelopes that may not be matched yet
        self.latest: dict[int, Any] | None = None  # source -> the latest arrival, if a cost model may reorder messages
        self.arrivals = 0  # counts envelopes and patterns that were added to the lists
        self.wildcards: Any = None  # records of the package mpi

    def arrive(self, envelope: Envelope) -> Pattern | None:
        """Return the pattern that matches an arriving envelope; without a match, keep the envelope and return None."""
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
        """Return the envelope that matches a newly posted pattern; without a match, keep the pattern and return None."""
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
        """Return the matching envelope that arrived first, without removing it; None if there is none."""
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
        """Return whether there are no envelopes and no patterns."""
        lone = self.lone_envelope is not None or self.lone_pattern is not None
        return not (lone or self.pending or self.exact or self.wild)

    def envelopes(self) -> list[Envelope]:
        """Return all envelopes; those with the same source and tag are consecutive, in order of arrival."""
        return [self.lone_envelope] if self.lone_envelope is not None else _elements(self.pending)

    def patterns(self) -> list[Pattern]:
        """Return all posted patterns, those without wildcards first."""
        return [self.lone_pattern] if self.lone_pattern is not None else _elements(self.exact) + (self.wild or [])

    def withdraw(self, item: Envelope | Pattern) -> bool:
        """Remove an unmatched envelope or pattern; return False if it was matched already."""
        if item is self.lone_pattern:
            self.lone_pattern = None
        elif item is self.lone_envelope:
            self.lone_envelope = None
        elif isinstance(item, Envelope):
            return self._drop_envelope(item)
        elif self.wild and item in self.wild:
            self.wild.remove(item)
        else:
            return bool(self.exact) and remove(self.exact, item)  # type: ignore[arg-type]  # not None if it has an entry
        return True

    # -- several envelopes or patterns ----------------------------------------------------------------------------

    def _take_pattern(self, envelope: Envelope) -> Pattern | None:
        """Remove and return the matching pattern that was posted first; None if there is none."""
        pattern: Pattern | None = self.exact.get((envelope.source, envelope.tag)) if self.exact else None
        for wild in self.wild or ():
            if wild.matches(envelope):
                if pattern is None or wild.number < pattern.number:
                    self.wild.remove(wild)  # type: ignore[union-attr]  # not None if it has an entry
                    return wild
                break
        if pattern is not None:
            drop_first(self.exact, pattern)  # type: ignore[arg-type]  # not None if it has an entry
        return pattern

    def _keep_pattern(self, pattern: Pattern) -> None:
        """Add a pattern to the lists; if there was a lone pattern, move it to the lists first."""
        lone, self.lone_pattern = self.lone_pattern, None
        for item in (pattern,) if lone is None else (lone, pattern):
            self.arrivals = item.number = self.arrivals + 1
            if item.source < 0 or item.tag < 0:
                if self.wild is None:
                    self.wild = []
                self.wild.append(item)
            else:
                if self.exact is None:
                    self.exact = {}
                append(self.exact, item)

    def keep_envelope(self, envelope: Envelope) -> None:
        """Add an envelope to the lists; if there was a lone envelope, move it to the lists first."""
        lone, self.lone_envelope = self.lone_envelope, None
        if self.pending is None:
            self.pending = {}
        for item in (envelope,) if lone is None else (lone, envelope):
            self.arrivals = item.number = self.arrivals + 1
            append(self.pending, item)
            if self.order is not None:
                self.order.append(item)

    def _drop_envelope(self, envelope: Envelope) -> bool:
        """Remove an envelope from the lists; return False if they do not contain it."""
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
            self.order = None  # the envelope is far from both ends: the next wildcard rebuilds the deque
        return True


def _elements(chains: Chains | None) -> list[Any]:
    elements = []
    for first in (chains or {}).values():
        link = first
        while link is not None:
            elements.append(link)
            link = link.next
    return elements
