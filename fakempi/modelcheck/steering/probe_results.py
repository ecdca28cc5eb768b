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

from fakempi.core.network.envelope import Envelope, PostedReceive


class ProbeResults:
    """The recorded facts of each mailbox: (message, tag of the probe); the message is None if it is not known which one."""

    def __init__(self) -> None:
        self.facts: dict[Any, list[tuple[Envelope | None, int]]] = {}

    def record(self, receive: PostedReceive, envelope: Envelope, identifies: bool) -> None:
        """Record that a probe has returned a message, which stays in the mailbox."""
        fact = envelope if identifies or receive.source >= 0 else None
        self.facts.setdefault(receive.box, []).append((fact, receive.tag))

    def may_be_taken(self, receive: PostedReceive, already_taken: bool = False) -> None:
        """Remove facts that may no longer hold after a posted receive.

        `already_taken`: the receive is an Mprobe, which has removed its message from the mailbox, so that facts about
        other specific messages still hold.
        """
        if facts := self.facts.get(receive.box):
            self.facts[receive.box] = [
                (envelope, tag) for envelope, tag in facts
                if (already_taken and envelope is not None) or not _may_take(receive, envelope, tag)
            ]  # fmt: skip

    def must_find(self, receive: PostedReceive) -> bool:
        """Whether a probe must not report "not yet"."""
        return any(
            receive.source < 0 and receive.tag == tag if envelope is None
            else receive.matches(envelope) and (tag < 0 or receive.tag >= 0) and envelope in receive.box.unexpected
            for envelope, tag in self.facts.get(receive.box, ())
        )  # fmt: skip


def _may_take(receive: PostedReceive, envelope: Envelope | None, tag: int) -> bool:
    return tag < 0 or receive.tag < 0 or receive.tag == tag if envelope is None else bool(receive.matches(envelope))
