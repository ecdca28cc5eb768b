"""A mailbox that makes all matches that MPI determines, and leaves the other matches to a choice.

A receive that names its source takes the first matching message of that source, unless an earlier wildcard receive could
take the message: then both wait for the wildcard's choice. A wildcard receive may take, from each source, the first message
that it matches and that no earlier receive matches.
"""

from __future__ import annotations

from typing import Any

from fakempi.core.network.envelope import Envelope, Pattern
from fakempi.core.network.matching import Mailbox


class OpenMailbox(Mailbox):
    """The unexpected messages and the posted receives of one process in one context, each in order of arrival."""

    __slots__ = ("choices", "posted", "unexpected")

    def __init__(self, choices: Any, owner: int, into: Any, name: Any = None) -> None:
        super().__init__(owner, into, name)
        self.choices = choices
        self.unexpected: list[Envelope] = []
        self.posted: list[Pattern] = []
        self.pending = self.unexpected  # type: ignore[assignment]  # other code tests whether it is empty

    def arrive(self, envelope: Envelope) -> Pattern | None:
        """Add an envelope; return the pattern that must match it, or None if the envelope waits."""
        self.choices.arrived(self, envelope)
        pattern = self.first_for(envelope)
        if pattern is not None and pattern.source >= 0 and self._first_of(pattern) is None:
            self.posted.remove(pattern)
            return pattern
        self.unexpected.append(envelope)
        return None

    def expect(self, pattern: Pattern) -> Envelope | None:
        """Post a pattern; return the envelope that it must match, or None if the pattern waits."""
        if pattern.source >= 0:
            envelope = self._first_of(pattern)
            if envelope is not None and self.first_for(envelope) is None:
                self.unexpected.remove(envelope)
                return envelope
        else:
            self.choices.wildcard_posted(pattern)
        self.posted.append(pattern)
        return None

    def first_for(self, envelope: Envelope) -> Pattern | None:
        """Return the first posted pattern that an envelope matches."""
        return next((pattern for pattern in self.posted if pattern.matches(envelope)), None)

    def _first_of(self, pattern: Pattern) -> Envelope | None:
        return next((envelope for envelope in self.unexpected if pattern.matches(envelope)), None)

    def candidates(self, pattern: Pattern) -> list[Envelope]:
        """Return the first matching envelope of each source."""
        by_source: dict[int, Envelope] = {}
        for envelope in self.unexpected:
            if pattern.matches(envelope):
                by_source.setdefault(envelope.source, envelope)
        return list(by_source.values())

    def next_determined(self) -> tuple[Envelope, Pattern] | None:
        """Remove and return a match that is determined after a wildcard was matched; None if there is none."""
        for pattern in self.posted:
            if pattern.source >= 0:
                envelope = self._first_of(pattern)
                if envelope is not None and self.first_for(envelope) is pattern:
                    self.take(envelope, pattern)
                    return envelope, pattern
        return None

    def take(self, envelope: Envelope, pattern: Pattern | None = None) -> None:
        """Remove a matched pair, or an envelope that Mprobe takes."""
        self.unexpected.remove(envelope)
        if pattern is not None:
            self.posted.remove(pattern)

    def is_empty(self) -> bool:
        """Whether there is no unexpected message and no posted receive."""
        return not self.unexpected and not self.posted

    def envelopes(self) -> list[Envelope]:
        """Return all unexpected messages."""
        return list(self.unexpected)

    def patterns(self) -> list[Pattern]:
        """Return all posted receives."""
        return list(self.posted)

    def withdraw(self, item: Envelope | Pattern) -> bool:
        """Remove an unmatched item; return False if it has been matched."""
        items: list[Any] = self.unexpected if isinstance(item, Envelope) else self.posted
        if item not in items:
            return False
        items.remove(item)
        self.choices.match_determined(self)
        return True
