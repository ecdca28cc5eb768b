"""The fast path: the end of an instant for most messages, in one loop.

If costs are linear, ports have width one, nothing is shared, the ports are free, and the mailbox has at most one envelope
or receive, a message needs no queue, no route and no search. This holds for nearly every message. A loop without
intermediate calls takes a fifth less time. An eager message whose receiver's port is busy waits in the queue of that port
(three quarters of the messages of repeated reduces). All other messages take the path of `Delivery`. A test runs the same
programs on both paths.
"""

from __future__ import annotations

from collections.abc import Callable

from fakempi.core.network.cost import CostModel
from fakempi.core.network.delivery import SENDER, Delivery
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.network.matching import Mailbox, drop_first
from fakempi.core.network.ports import FOREVER, Clock, Port
from fakempi.core.network.transfers import ANY_TIME


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
        new = self.new.copy()
        if self.continued:
            if (remaining := self._serve_freed(new)) is None:
                return
            new = remaining
        else:
            self.new.clear()
        if len(new) > 1 and not self._sort_by_sender(new):
            self._sort(new)
            self._give([], [], new)
            return
        now, t_s, t_w, matched, watcher = self.clock.now, self.t_s, self.t_w, self.matched, self.watcher
        for envelope in new:
            box: Mailbox = envelope.box
            out, into, receive = envelope.out, box.into, box.lone_receive
            if out.free_at > now or out.queue or envelope.receive or (box.delayed and envelope.source in box.delayed):
                self._launch(envelope)
                continue
            if watcher is not None and (not envelope.eager or envelope.end is not None):
                self._launch(envelope)  # the send ends before the receive does, which the order of records shows
                continue
            if into.free_at > now or into.queue:
                if envelope.eager and watcher is None:
                    self._queue(envelope, into)
                else:
                    self._launch(envelope)
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

    @staticmethod
    def _sort_by_sender(new: list[Envelope]) -> bool:
        """Sort envelopes by their senders; returns False, and does nothing, if a rank has sent two of them."""
        senders = [envelope.out.number for envelope in new]
        if len(set(senders)) < len(senders):
            return False
        if senders != sorted(senders):
            new.sort(key=SENDER)
        return True

    def _serve_freed(self, new: list[Envelope]) -> list[Envelope] | None:
        """Let ports that are free now serve the next envelope; returns the new ones, or None if the general path did all."""
        new = [envelope for envelope in new if envelope is not None]
        if self.watcher is not None or not self._is_simple(new):
            super().finish()
            return None
        freed, self.continued = self.continued, []
        self.new.clear()
        for port in freed:
            self._serve(port)  # type: ignore[arg-type]  # they are ports, as `_is_simple` has found
        return new

    def _is_simple(self, new: list[Envelope]) -> bool:
        """Return whether ports that are free now serve their first envelope, and `new` ones follow one after the other.

        So it is if all of them wait for a receiver's port, or find their sender's port free. An envelope that waits has
        waited longer than a new one, so it is first; and the order in which different ports serve has no influence.
        """
        if not self.t_s:  # a transfer may take no time, so that its ports serve another envelope at this time
            return False
        for port in self.continued:
            if port.__class__ is not Port or not port.queue or port.queue[0][0] == ANY_TIME:
                return False
            envelope = port.queue[0][2]
            following = (envelope.box.delayed or {}).get(envelope.source, ())
            if envelope.receive is not None or len(following) != 1:  # it is synchronous, or those that follow it may be
                return False
        now = self.clock.now
        for envelope in new:
            out, delayed = envelope.out, envelope.box.delayed
            is_next = envelope.receive is None and not (delayed and envelope.source in delayed)
            if not (envelope.eager and is_next) or out.free_at > now or out.queue:
                return False
        return len({envelope.out for envelope in new}) == len(new)

    def _queue(self, envelope: Envelope, into: Port) -> None:
        """Take the output port of an eager envelope, and let it wait for its receiver's port, which is busy."""
        self.serials = envelope.serial = self.serials + 1
        self._delay(envelope)
        out = envelope.out
        out.free_at, envelope.route, envelope.stage, envelope.flight = FOREVER, (out, into), 1, None
        into.take((self.clock.now, (FOREVER, 0, self.serials), envelope))

    def _serve(self, port: Port) -> None:
        """Start the transfer of the first envelope that waits for a receiver's port, if that is free."""
        place = port.first()
        if place is None:
            return
        envelope = place[2]
        out, nbytes = envelope.out, envelope.nbytes
        end = self.clock.now + (self.t_s + nbytes * self.t_w)
        out.hold(end)
        port.hold(end)
        out.sent += 1
        out.bytes_sent += nbytes
        port.received += 1
        port.bytes_received += nbytes
        envelope.arrived = port.latest = envelope.end = end
        self._match_arrived(envelope, end)
        if envelope.waiter is not None:
            envelope.waiter.settled(end)

    def post_receive(self, receive: PostedReceive) -> None:
        """Post a receive: wait for an envelope that matches from now on."""
        box: Mailbox = receive.box
        envelope = box.lone_envelope
        if envelope is None:
            first = None if not box.pending or box.order is not None else box.pending.get((receive.source, receive.tag))
            if first is not None:
                drop_first(box.pending, first)  # type: ignore[arg-type]  # not None, because it has this entry
                self.match_waiting(first, receive)
            elif box.pending or box.lone_receive is not None or box.exact or box.wild:
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
