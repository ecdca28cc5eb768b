"""A mailbox that matches at once what is certain, and leaves to a choice what is not.

A receive that names its source takes the first message from there that fits, whatever else happens, unless a wildcard
that was posted before it could have that message: then both wait for what the wildcard takes. What a wildcard may take is
the first message of each source that fits it and no receive that was posted before.
"""

from __future__ import annotations

from typing import Any

from fakempi.wire.envelope import Envelope, Pattern
from fakempi.wire.matching import Mailbox


class OpenMailbox(Mailbox):
    """What has arrived and what is awaited at one process, in one context, both in order."""

    __slots__ = ("choices", "here", "posted")

    def __init__(self, choices: Any, owner: int, into: Any, name: Any = None) -> None:
        super().__init__(owner, into, name)
        self.choices = choices
        self.here: list[Envelope] = []
        self.posted: list[Pattern] = []
        self.pending = self.here  # type: ignore[assignment]  # whoever has sent what stays there notes its line

    def arrive(self, envelope: Envelope) -> Pattern | None:
        """An envelope is there: the pattern that certainly takes it, or None and it stays."""
        self.choices.arrived(self, envelope)
        pattern = self.first_for(envelope)
        if pattern is not None and pattern.source >= 0 and self._first_of(pattern) is None:
            self.posted.remove(pattern)
            return pattern
        self.here.append(envelope)
        return None

    def expect(self, pattern: Pattern) -> Envelope | None:
        """A pattern is posted: the envelope that it certainly takes, or None and it waits."""
        if pattern.source >= 0:
            envelope = self._first_of(pattern)
            if envelope is not None and self.first_for(envelope) is None:
                self.here.remove(envelope)
                return envelope
        else:
            self.choices.left_open(pattern)
        self.posted.append(pattern)
        return None

    def first_for(self, envelope: Envelope) -> Pattern | None:
        """The first posted of the patterns that an envelope fits."""
        return next((pattern for pattern in self.posted if pattern.fits(envelope)), None)

    def _first_of(self, pattern: Pattern) -> Envelope | None:
        return next((envelope for envelope in self.here if pattern.fits(envelope)), None)

    def firsts(self, pattern: Pattern) -> list[Envelope]:
        """Of each source the first envelope that fits."""
        found: dict[int, Envelope] = {}
        for envelope in self.here:
            if pattern.fits(envelope):
                found.setdefault(envelope.source, envelope)
        return list(found.values())

    def certain(self) -> tuple[Envelope, Pattern] | None:
        """A pair that is certain now, after a wildcard has got its message; it is taken out."""
        for pattern in self.posted:
            if pattern.source >= 0:
                envelope = self._first_of(pattern)
                if envelope is not None and self.first_for(envelope) is pattern:
                    self.take(envelope, pattern)
                    return envelope, pattern
        return None

    def take(self, envelope: Envelope, pattern: Pattern | None = None) -> None:
        """They have found each other; or a probe takes an envelope."""
        self.here.remove(envelope)
        if pattern is not None:
            self.posted.remove(pattern)

    def is_empty(self) -> bool:
        """Whether there is nothing that nobody took, and nothing is awaited."""
        return not self.here and not self.posted

    def envelopes(self) -> list[Envelope]:
        """All that nobody took."""
        return list(self.here)

    def patterns(self) -> list[Pattern]:
        """All that is awaited."""
        return list(self.posted)

    def withdraw(self, item: Envelope | Pattern) -> bool:
        """Take an item out again that has not been matched; False if it has been."""
        items: list[Any] = self.here if isinstance(item, Envelope) else self.posted
        if item not in items:
            return False
        items.remove(item)
        self.choices.stir(self)
        return True
