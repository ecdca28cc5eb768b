"""The fast path: the end of an instant for most messages, in one loop.

If costs are linear, ports have width one, nothing is shared, the ports are free, and the mailbox has at most one envelope
or receive, a message needs no queue, no route and no search. This holds for nearly every message. A loop without
intermediate calls takes a fifth less time. All other messages take the path of `Delivery`. A test runs the same programs on
both paths.
"""

from __future__ import annotations

from collections.abc import Callable

from fakempi.core.network.cost import CostModel
from fakempi.core.network.delivery import SENDER, Delivery
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.network.matching import Mailbox
from fakempi.core.network.ports import Clock


class Express(Delivery):
    """A `Delivery` for ports of width one and linear costs."""

    def __init__(self, clock: Clock, cost: CostModel, matched: Callable[[Envelope, PostedReceive], None]) -> None:
        super().__init__(clock, cost, matched)
        assert cost.linear is not None
        self.t_s, self.t_w = cost.linear

    @staticmethod
    def serves(cost: CostModel) -> bool:
        """Return whether this class can be used with a cost model."""
        return cost.linear is not None and cost.duplex and cost.ports == 1 and not cost.shares

    def finish(self) -> None:
        """Match the envelopes that were sent at this time, and give free ports to envelopes that are ready."""
        if self.continued:
            super().finish()
            return
        new = self.new.copy()
        self.new.clear()
        if len(new) > 1:
            senders = [envelope.out.number for envelope in new]
            if len(set(senders)) < len(senders):
                self._sort(new)
                self._give([], [], new)
                return
            if senders != sorted(senders):
                new.sort(key=SENDER)
        now, t_s, t_w, matched, watcher = self.clock.now, self.t_s, self.t_w, self.matched, self.watcher
        for envelope in new:
            box: Mailbox = envelope.box
            out, into, receive = envelope.out, box.into, box.lone_receive
            if out.free_at > now or into.free_at > now or out.queue or into.queue or box.delayed or envelope.receive:
                self._launch(envelope)
                continue
            if watcher is not None and (not envelope.eager or envelope.end is not None):
                self._launch(envelope)  # the send ends before the receive does, which the order of records shows
                continue
            if receive is not None:
                if (receive.source != envelope.source and receive.source >= 0) or (
                    receive.tag != envelope.tag and receive.tag >= 0
                ):
                    self._launch(envelope)
                    continue
                box.lone_receive = None
                receive.envelope = envelope
            elif not envelope.eager or box.exact or box.wild or box.probes:
                self._launch(envelope)
                continue
            elif box.lone_envelope is None and not box.pending:
                box.lone_envelope = envelope
            else:
                box.keep_envelope(envelope)
            nbytes = envelope.nbytes
            end = out.free_at = into.free_at = envelope.arrived = envelope.end = now + (t_s + nbytes * t_w)
            out.sent += 1
            out.bytes_sent += nbytes
            into.received += 1
            into.bytes_received += nbytes
            if watcher is not None:
                watcher.started(envelope, None, now, end, end)
            if receive is not None:
                matched(envelope, receive)
                if watcher is not None:
                    watcher.met(envelope, receive)
                receive.end = end
                if receive.waiter is not None:
                    receive.waiter.settled(end)
            if envelope.waiter is not None:
                envelope.waiter.settled(end)

    def post_receive(self, receive: PostedReceive) -> None:
        """Post a receive: wait for an envelope that matches from now on."""
        box: Mailbox = receive.box
        envelope = box.lone_envelope
        if envelope is None:
            if box.pending or box.lone_receive is not None or box.exact or box.wild:
                super().post_receive(receive)
            else:
                box.lone_receive = receive
        elif (receive.source == envelope.source or receive.source < 0) and (receive.tag == envelope.tag or receive.tag < 0):
            box.lone_envelope = None
            arrived = envelope.arrived
            if arrived is None:
                self.match_waiting(envelope, receive)
            else:
                receive.envelope = envelope
                matched = self.matched  # in two steps: `self.matched()` looks for a method first and is slower
                matched(envelope, receive)
                now = self.clock.now
                receive.end = arrived if arrived > now else now
        else:
            super().post_receive(receive)
