"""The fast path: the work of `Delivery` for most messages, in one function.

If costs are linear, ports have width one, nothing is shared, the ports are free, and the mailbox has at most one envelope
or pattern, a message needs no queue, no route and no search. This holds for nearly every message. A single function without
intermediate calls takes a fifth less time. All other messages take the path of `Delivery`. A test runs the same programs on
both paths.
"""

from __future__ import annotations

from collections.abc import Callable

from fakempi.core.network.cost import CostModel, Time
from fakempi.core.network.delivery import Delivery
from fakempi.core.network.envelope import Envelope, Pattern
from fakempi.core.network.matching import Mailbox
from fakempi.core.network.ports import Clock, Port


class Express(Delivery):
    """A `Delivery` for ports of width one and linear costs."""

    def __init__(self, clock: Clock, cost: CostModel, matched: Callable[[Envelope, Pattern], None]) -> None:
        super().__init__(clock, cost, matched)
        assert cost.linear is not None
        self.t_s, self.t_w = cost.linear

    @staticmethod
    def serves(cost: CostModel) -> bool:
        """Return whether this class can be used with a cost model."""
        return cost.linear is not None and cost.duplex and cost.ports == 1 and not cost.shares

    def send(self, envelope: Envelope) -> None:
        """Send an envelope now."""
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
            matched = self.matched  # in two steps: `self.matched()` looks for a method first and is slower
            matched(envelope, pattern)
            pattern.end = end
            if pattern.waiter is not None:
                pattern.waiter.settled(end)
        elif box.lone_envelope is None and not box.pending:
            box.lone_envelope = envelope
        else:
            box.keep_envelope(envelope)

    def expect(self, pattern: Pattern) -> None:
        """Post a pattern: wait for an envelope that matches from now on."""
        box: Mailbox = pattern.box
        envelope = box.lone_envelope
        if envelope is None:
            if box.pending or box.lone_pattern is not None or box.exact or box.wild:
                super().expect(pattern)
            else:
                box.lone_pattern = pattern
        elif (pattern.source == envelope.source or pattern.source < 0) and (pattern.tag == envelope.tag or pattern.tag < 0):
            box.lone_envelope = None
            arrived = envelope.arrived
            if arrived is None:
                self.join(envelope, pattern)
            else:
                pattern.envelope = envelope
                matched = self.matched  # as in `send`
                matched(envelope, pattern)
                now = self.clock.now
                pattern.end = arrived if arrived > now else now
        else:
            super().expect(pattern)

    def at_once(self, out: Port, into: Port, nbytes: int) -> Time | None:
        """Transfer bytes without an envelope, if the ports are free; return the time of arrival, or None."""
        now = self.clock.now
        if out.free_at > now or into.free_at > now or out.queue or into.queue or self.watcher is not None:
            return None
        end = out.free_at = into.free_at = now + (self.t_s + nbytes * self.t_w)
        out.sent += 1
        out.bytes_sent += nbytes
        into.received += 1
        into.bytes_received += nbytes
        return end
