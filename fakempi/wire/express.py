"""The express way: what `Delivery` does with most messages, in one piece.

Where costs are linear, ports are of width one and nothing is shared, and where the ports are free and at most one envelope
or pattern is in the mailbox, a message needs no queue, no route and no search. That is nearly every message, and doing it
without the calls in between saves a fifth of its time. Whatever is unusual goes the ordinary way, and a test sends the same
programs both ways.
"""

from __future__ import annotations

from collections.abc import Callable

from fakempi.wire.cost import CostModel, Time
from fakempi.wire.delivery import Delivery
from fakempi.wire.envelope import Envelope, Pattern
from fakempi.wire.matching import Mailbox
from fakempi.wire.ports import Clock, Port


class Express(Delivery):
    """A delivery for plain ports and linear costs."""

    calls_to_send = 2

    def __init__(self, clock: Clock, cost: CostModel, matched: Callable[[Envelope, Pattern], None]) -> None:
        super().__init__(clock, cost, matched)
        assert cost.linear is not None
        self.t_s, self.t_w = cost.linear

    @staticmethod
    def serves(cost: CostModel) -> bool:
        """Whether all transfers of such a run are plain."""
        return cost.linear is not None and cost.duplex and cost.ports == 1 and not cost.shares

    def send(self, envelope: Envelope) -> None:
        """A message is sent now."""
        box: Mailbox = envelope.box
        pattern = box.lone_pattern
        if pattern is not None:
            if (pattern.source != envelope.source and pattern.source >= 0) or (
                pattern.tag != envelope.tag and pattern.tag >= 0
            ):
                return super().send(envelope)
        elif not envelope.eager or box.exact or box.wild or box.probes:
            return super().send(envelope)
        out, into, now = envelope.out, box.into, self.clock.now
        if out.free_at > now or into.free_at > now or out.queue or into.queue or box.delayed:
            return super().send(envelope)
        nbytes = envelope.nbytes
        end = out.free_at = into.free_at = envelope.arrived = envelope.end = now + (self.t_s + nbytes * self.t_w)
        out.sent += 1
        out.bytes_sent += nbytes
        into.received += 1
        into.bytes_received += nbytes
        if self.watcher is not None:
            self.watcher.started_at_once(envelope, pattern, now, end)
        if pattern is not None:
            box.lone_pattern = None
            pattern.envelope = envelope
            matched = self.matched  # in two steps: to call an attribute as if it were a method is slower
            matched(envelope, pattern)
            pattern.end = end
            if pattern.waiter is not None:
                pattern.waiter.settled(end)
        elif box.lone_envelope is None and not box.pending:
            box.lone_envelope = envelope
        else:
            box.keep_envelope(envelope)

    def expect(self, pattern: Pattern) -> None:
        """A message is awaited from now on."""
        box: Mailbox = pattern.box
        envelope = box.lone_envelope
        if envelope is None:
            if box.pending or box.lone_pattern is not None or box.exact or box.wild:
                super().expect(pattern)
            else:
                box.lone_pattern = pattern
        elif (pattern.source == envelope.source or pattern.source < 0) and (
            pattern.tag == envelope.tag or pattern.tag < 0
        ):
            box.lone_envelope = None
            if envelope.arrived is None:
                self.join(envelope, pattern)
            else:
                pattern.envelope = envelope
                matched = self.matched  # as in `send`
                matched(envelope, pattern)
                now = self.clock.now
                pattern.end = envelope.arrived if envelope.arrived > now else now
        else:
            super().expect(pattern)

    def at_once(self, out: Port, into: Port, nbytes: int) -> Time | None:
        """Let so many bytes travel that no envelope is needed for, if the ports are free; when they are there."""
        now = self.clock.now
        if out.free_at > now or into.free_at > now or out.queue or into.queue or self.watcher is not None:
            return None
        end = out.free_at = into.free_at = now + (self.t_s + nbytes * self.t_w)
        out.sent += 1
        out.bytes_sent += nbytes
        into.received += 1
        into.bytes_received += nbytes
        return end
