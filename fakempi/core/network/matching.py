"""Mailboxes, which match messages with receives. An envelope is a message; a receive is a posted receive or a probe.

A receive without wildcards is found by (source, tag) in one dictionary look-up; only wildcards need a search. An arriving
envelope is matched with the matching receive that was posted first. A new receive is matched with the matching envelope that
arrived first. So messages between two processes stay in order.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from fakempi.core.network.envelope import Envelope, PostedReceive

Chains = dict[tuple[int, int], Any]
"""(source, tag) -> the first element of a linked list of envelopes or receives.

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
    """The unmatched envelopes and receives of one process in one context.

    Most mailboxes have at most one envelope and one receive at a time. A lone envelope or receive is stored in an attribute,
    and moves to the lists when a second one arrives. So most messages need no dictionary, which saves a fifth of their time.
    """

    __slots__ = (
        "arrivals", "delayed", "exact", "into", "latest", "lone_envelope", "lone_receive", "name", "order", "owner",
        "pending", "probes", "wild", "wildcards",
    )  # fmt: skip

    def __init__(self, owner: int, into: Any, name: Any = None) -> None:
        self.owner = owner  # the number of the process
        self.into = into  # the input port of the process
        self.name = name  # the context that the mailbox belongs to
        self.lone_receive: PostedReceive | None = None  # the receive, while there is only one
        self.exact: Chains | None = None  # several receives: those without wildcards
        self.wild: list[PostedReceive] | None = None  # several receives: those with wildcards, in the order of posting
        self.lone_envelope: Envelope | None = None  # the envelope, while there is only one
        self.pending: Chains | None = None  # several envelopes
        self.order: deque[Envelope] | None = None  # the envelopes of `pending` in order of arrival, for wildcards
        self.probes: list[PostedReceive] | None = None  # receives of probes, which match an envelope without receiving it
        self.delayed: dict[int, deque[Envelope]] | None = None  # source -> envelopes that may not be matched yet
        self.latest: dict[int, Any] | None = None  # source -> the latest arrival, if a cost model may reorder messages
        self.arrivals = 0  # counts envelopes and receives that were added to the lists
        self.wildcards: Any = None  # records of the package mpi

    def arrive(self, envelope: Envelope) -> PostedReceive | None:
        """Return the receive that matches an arriving envelope; without a match, keep the envelope and return None."""
        receive = self.lone_receive
        if receive is not None:
            if (receive.source == envelope.source or receive.source < 0) and (
                receive.tag == envelope.tag or receive.tag < 0
            ):
                self.lone_receive = None
                return receive
        elif self.exact or self.wild:
            receive = self._take_receive(envelope)
            if receive is not None:
                return receive
        if self.lone_envelope is None and not self.pending:
            self.lone_envelope = envelope
        else:
            self.keep_envelope(envelope)
        return None

    def post_receive(self, receive: PostedReceive) -> Envelope | None:
        """Return the envelope that matches a newly posted receive; without a match, keep the receive and return None."""
        envelope = self.lone_envelope
        if envelope is not None:
            if (receive.source == envelope.source or receive.source < 0) and (
                receive.tag == envelope.tag or receive.tag < 0
            ):
                self.lone_envelope = None
                return envelope
        elif self.pending:
            envelope = self.find(receive.source, receive.tag)
            if envelope is not None:
                self._drop_envelope(envelope)
                return envelope
        if self.lone_receive is None and not self.exact and not self.wild:
            self.lone_receive = receive
        else:
            self._keep_receive(receive)
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
        """Return whether there are no envelopes and no receives."""
        lone = self.lone_envelope is not None or self.lone_receive is not None
        return not (lone or self.pending or self.exact or self.wild)

    def envelopes(self) -> list[Envelope]:
        """Return all envelopes; those with the same source and tag are consecutive, in order of arrival."""
        return [self.lone_envelope] if self.lone_envelope is not None else _elements(self.pending)

    def receives(self) -> list[PostedReceive]:
        """Return all posted receives, those without wildcards first."""
        return [self.lone_receive] if self.lone_receive is not None else _elements(self.exact) + (self.wild or [])

    def withdraw(self, item: Envelope | PostedReceive) -> bool:
        """Remove an unmatched envelope or receive; return False if it was matched already."""
        if item is self.lone_receive:
            self.lone_receive = None
        elif item is self.lone_envelope:
            self.lone_envelope = None
        elif isinstance(item, Envelope):
            return self._drop_envelope(item)
        elif self.wild and item in self.wild:
            self.wild.remove(item)
        else:
            return bool(self.exact) and remove(self.exact, item)  # type: ignore[arg-type]  # not None if it has an entry
        return True

    # -- several envelopes or receives ----------------------------------------------------------------------------

    def _take_receive(self, envelope: Envelope) -> PostedReceive | None:
        """Remove and return the matching receive that was posted first; None if there is none."""
        receive: PostedReceive | None = self.exact.get((envelope.source, envelope.tag)) if self.exact else None
        for wild in self.wild or ():
            if wild.matches(envelope):
                if receive is None or wild.number < receive.number:
                    self.wild.remove(wild)  # type: ignore[union-attr]  # not None if it has an entry
                    return wild
                break
        if receive is not None:
            drop_first(self.exact, receive)  # type: ignore[arg-type]  # not None if it has an entry
        return receive

    def _keep_receive(self, receive: PostedReceive) -> None:
        """Add a receive to the lists; if there was a lone receive, move it to the lists first."""
        lone, self.lone_receive = self.lone_receive, None
        for item in (receive,) if lone is None else (lone, receive):
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
