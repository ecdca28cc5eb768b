"""A mailbox that makes all matches that MPI determines, and leaves the other matches to a choice.

A receive that names its source takes the first matching message of that source, unless an earlier wildcard receive could
take the message: then both wait for the wildcard's choice. A wildcard receive may take, from each source, the first message
that it matches and that no earlier receive matches.
"""

from __future__ import annotations

from typing import Any

from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.network.matching import Mailbox


class OpenMailbox(Mailbox):
    """The unexpected messages and the posted receives of one process in one context, each in order of arrival."""

    __slots__ = ("choices", "posted", "unexpected")

    def __init__(self, choices: Any, owner: int, into: Any, name: Any = None) -> None:
        super().__init__(owner, into, name)
        self.choices = choices
        self.unexpected: list[Envelope] = []
        self.posted: list[PostedReceive] = []
        self.pending = self.unexpected  # type: ignore[assignment]  # other code tests whether it is empty

    def arrive(self, envelope: Envelope) -> PostedReceive | None:
        """Add an envelope; return the receive that must match it, or None if the envelope waits."""
        self.choices.arrived(self, envelope)
        receive = self.first_for(envelope)
        if receive is not None and receive.source >= 0 and self._first_of(receive) is None:
            self.posted.remove(receive)
            return receive
        self.unexpected.append(envelope)
        return None

    def post_receive(self, receive: PostedReceive) -> Envelope | None:
        """Post a receive; return the envelope that it must match, or None if the receive waits."""
        if receive.source >= 0:
            envelope = self._first_of(receive)
            if envelope is not None and self.first_for(envelope) is None:
                self.unexpected.remove(envelope)
                return envelope
        else:
            self.choices.wildcard_posted(receive)
        self.posted.append(receive)
        return None

    def first_for(self, envelope: Envelope) -> PostedReceive | None:
        """Return the first posted receive that an envelope matches."""
        return next((receive for receive in self.posted if receive.matches(envelope)), None)

    def _first_of(self, receive: PostedReceive) -> Envelope | None:
        return next((envelope for envelope in self.unexpected if receive.matches(envelope)), None)

    def candidates(self, receive: PostedReceive) -> list[Envelope]:
        """Return the first matching envelope of each source."""
        by_source: dict[int, Envelope] = {}
        for envelope in self.unexpected:
            if receive.matches(envelope):
                by_source.setdefault(envelope.source, envelope)
        return list(by_source.values())

    def next_determined(self) -> tuple[Envelope, PostedReceive] | None:
        """Remove and return a match that is determined after a wildcard was matched; None if there is none."""
        for receive in self.posted:
            if receive.source >= 0:
                envelope = self._first_of(receive)
                if envelope is not None and self.first_for(envelope) is receive:
                    self.take(envelope, receive)
                    return envelope, receive
        return None

    def take(self, envelope: Envelope, receive: PostedReceive | None = None) -> None:
        """Remove a matched pair, or an envelope that Mprobe takes."""
        self.unexpected.remove(envelope)
        if receive is not None:
            self.posted.remove(receive)

    def is_empty(self) -> bool:
        """Whether there is no unexpected message and no posted receive."""
        return not self.unexpected and not self.posted

    def envelopes(self) -> list[Envelope]:
        """Return all unexpected messages."""
        return list(self.unexpected)

    def receives(self) -> list[PostedReceive]:
        """Return all posted receives."""
        return list(self.posted)

    def withdraw(self, item: Envelope | PostedReceive) -> bool:
        """Remove an unmatched item; return False if it has been matched."""
        items: list[Any] = self.unexpected if isinstance(item, Envelope) else self.posted
        if item not in items:
            return False
        items.remove(item)
        self.choices.match_determined(self)
        return True
