"""Messages that a probe of their receiver has returned: a later Iprobe must find them.

MPI lets a test or Iprobe report "not yet" although a message has been sent. But a probe that returned a message has shown
that the message can be received, and Iprobe "returns flag = true if there is a message that can be received" (MPI 4.1,
3.8.1). Two kinds of facts are recorded:

* A specific message can be received. This is recorded if the program sees which message it is: the probe returned a status,
  or named the source. A later probe must find this message if it matches the message, and if no earlier message of the same
  sender can precede it: both probes are for the same tag, or the first was for any tag.
* Some message can be received. This is recorded if the probe was for any source and returned no status. A later probe must
  find a message if it is for the same tag and for any source.

These facts are the only effect of a probe on later probes, so a probe still commutes with actions of other ranks. A fact is
removed when the rank posts a receive that may take the message, or when Mprobe may have taken it.
"""

from __future__ import annotations

from typing import Any

from fakempi.core.network.envelope import Envelope, Pattern


class ProbeResults:
    """The recorded facts of each mailbox: (message, tag of the probe); the message is None if it is not known which one."""

    def __init__(self) -> None:
        self.facts: dict[Any, list[tuple[Envelope | None, int]]] = {}

    def record(self, pattern: Pattern, envelope: Envelope, identifies: bool) -> None:
        """Record that a probe has returned a message, which stays in the mailbox."""
        fact = envelope if identifies or pattern.source >= 0 else None
        self.facts.setdefault(pattern.box, []).append((fact, pattern.tag))

    def may_be_taken(self, pattern: Pattern, at_once: bool = False) -> None:
        """Remove facts that may no longer hold after a posted receive.

        `at_once`: the receive is an Mprobe, which has already removed its message from the mailbox, so that facts about
        other specific messages still hold.
        """
        if facts := self.facts.get(pattern.box):
            self.facts[pattern.box] = [
                (envelope, tag) for envelope, tag in facts
                if (at_once and envelope is not None) or not _may_take(pattern, envelope, tag)
            ]  # fmt: skip

    def must_find(self, pattern: Pattern) -> bool:
        """Whether a probe must not report "not yet"."""
        return any(
            pattern.source < 0 and pattern.tag == tag if envelope is None
            else pattern.matches(envelope) and (tag < 0 or pattern.tag >= 0) and envelope in pattern.box.unexpected
            for envelope, tag in self.facts.get(pattern.box, ())
        )  # fmt: skip


def _may_take(pattern: Pattern, envelope: Envelope | None, tag: int) -> bool:
    return tag < 0 or pattern.tag < 0 or pattern.tag == tag if envelope is None else bool(pattern.matches(envelope))
