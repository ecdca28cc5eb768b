"""The way of an envelope: it is sent, is ready (matched, or eager), takes its ports, travels, and is there.

Where all ports are free, which is the common case, the end is known at once and nothing is booked. Otherwise the envelope
waits in the queue of the first port that is busy. Matching takes place when a transfer starts (an eager envelope) or as
soon as both sides are posted (a synchronous one), so a receiver never waits for a message that is stuck behind its own
sender's port while another one could come in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from fakempi.wire.cost import CostModel, Time
from fakempi.wire.envelope import Envelope, Pattern
from fakempi.wire.matching import Mailbox
from fakempi.wire.ports import FOREVER, Clock, Port, Ports


class Delivery:
    """Moves envelopes. `matched(envelope, pattern)` is called when the two have met.

    Whoever watches puts a `watcher` here, which is told when an envelope is sent (`posted(envelope)`), when its transfer
    starts (`started(envelope, pattern, start, sent, arrived)`, with None for a pattern that is not known yet), or both at
    once (`started_at_once(envelope, pattern, now, end)`), and when it meets its pattern only on its way (`met(envelope,
    pattern)`). What is met at the doors of the receiver, `expect` and `join`, shows there.
    """

    calls_to_send = 1
    """From the caller of `send` to where `posted` is called, for a watcher that looks at the stack."""

    def __init__(self, clock: Clock, cost: CostModel, matched: Callable[[Envelope, Pattern], None]) -> None:
        self.clock, self.cost = clock, cost
        self.watcher: Any = None
        self.looks_behind = True  # whether whoever sends asks if it was buffered
        self.matched = matched
        self.linear = cost.linear
        self.price = cost.transfer
        self.ports = Ports(clock, cost, self._onward if cost.duplex else self._claim_again)
        self.turns = 0
        self.out, self.into = self.ports.out, self.ports.into
        # Two ports of width one and nothing shared: the route need not be looked up (a third of the work saved).
        self.plain = cost.duplex and cost.ports == 1 and not cost.shares
        self.in_order = cost.in_order and cost.ports == 1

    # -- the two doors --------------------------------------------------------------------------------------------

    def send(self, envelope: Envelope) -> None:
        """A message is sent now."""
        box: Mailbox = envelope.box
        if self.watcher is not None:
            self.watcher.posted(envelope)
        if box.delayed is not None and envelope.source in box.delayed:
            box.delayed[envelope.source].append(envelope)  # not before those that were sent before it
            if envelope.eager:
                self._depart(envelope)
        elif envelope.eager:
            if not self.in_order:
                self._delay(envelope)
                self._depart(envelope)
            elif not self._depart(envelope):
                self._delay(envelope)
        else:
            self._announce(envelope)

    def expect(self, pattern: Pattern) -> None:
        """A message is awaited from now on."""
        envelope = pattern.box.expect(pattern)
        if envelope is not None:
            self.join(envelope, pattern)

    def join(self, envelope: Envelope, pattern: Pattern) -> None:
        """An envelope that waited in the mailbox goes to the pattern that takes it."""
        pattern.envelope = envelope
        self.matched(envelope, pattern)
        if envelope.arrived is not None:  # it was eager: it is there, or on the way
            now = self.clock.now
            self._settle(pattern, envelope.arrived if envelope.arrived > now else now)
        else:
            envelope.pattern = pattern
            self._depart(envelope)

    def carry(self, envelope: Envelope, pattern: Any) -> None:
        """An envelope and its pattern belong together from the start, and no mailbox is asked: it departs now."""
        envelope.pattern = pattern
        self._depart(envelope)

    def at_once(self, out: Port, into: Port, nbytes: int) -> Time | None:
        """Let so many bytes travel that no envelope is needed for, if that is possible; when they are there."""
        return None

    def clear_at(self, box: Mailbox) -> Time:
        """When all that travels to a mailbox is there; with costs that keep the order, to any mailbox of its process."""
        if not self.in_order:
            return max(box.latest.values()) if box.latest else self.clock.now
        into: Port = box.into
        return max(into.free_at, into.latest) if into.free_at < FOREVER else into.latest  # taken, but it has not started

    def close(self, refusal: Callable[[], None]) -> None:
        """From now on nothing is sent or received: whoever tries is refused."""

        def refuse(*_: Any) -> None:
            refusal()

        for door in ("send", "expect", "join", "carry", "at_once"):
            setattr(self, door, refuse)

    # -- on the way -----------------------------------------------------------------------------------------------

    @staticmethod
    def _delay(envelope: Envelope) -> None:
        """It has been sent and is not there: nothing that its sender sends after it may be there before."""
        box: Mailbox = envelope.box
        if box.delayed is None:
            box.delayed = {}
        box.delayed[envelope.source] = deque((envelope,))

    def _announce(self, envelope: Envelope) -> None:
        """A synchronous envelope shows itself: matched it departs, otherwise it waits."""
        pattern = envelope.box.arrive(envelope)
        if pattern is None:
            if envelope.box.probes:
                self._show(envelope, self.clock.now)
        else:
            envelope.pattern = pattern
            pattern.envelope = envelope
            self.matched(envelope, pattern)
            self._depart(envelope)

    def _depart(self, envelope: Envelope) -> bool:
        """A ready envelope takes its ports; False if it has to queue for one."""
        out, into = envelope.out, envelope.box.into
        if self.plain:
            now = self.clock.now
            if out.free_at <= now and into.free_at <= now and not out.queue and not into.queue:
                if self.linear is not None:
                    t_s, t_w = self.linear
                    sent = arrived = out.free_at = into.free_at = now + (t_s + envelope.nbytes * t_w)
                else:
                    hold, sent, arrived = self.price(out.number, into.number, envelope.nbytes)
                    out.free_at = into.free_at = now + hold
                    sent += now
                    arrived += now
                self._travel(envelope, sent, arrived)
                return True
        envelope.route = self.ports.route(out.number, into.number)
        envelope.stage = 0
        if self.cost.duplex:
            return self._take_ports(envelope)
        self.turns = envelope.number = self.turns + 1
        return self._claim_on(envelope)

    def _claim_on(self, envelope: Envelope) -> bool:
        """Half duplex: claim the next ports as long as those claimed already admit the envelope, then start."""
        route = envelope.route
        while all(port.admits(envelope) for port in route[: envelope.stage]):
            if envelope.stage == len(route):
                self._start(envelope)
                return True
            route[envelope.stage].take(envelope)
            envelope.stage += 1
        return False

    def _claim_again(self, envelope: Envelope) -> None:
        """A shared port is free, and this envelope is first there."""
        self._claim_on(envelope)

    def _onward(self, envelope: Envelope) -> None:
        """A port's queue has come to this envelope: it has that port, on to the next."""
        envelope.stage += 1
        self._take_ports(envelope)

    def _take_ports(self, envelope: Envelope) -> bool:
        route = envelope.route
        while envelope.stage < len(route):
            if not route[envelope.stage].take(envelope):
                return False
            envelope.stage += 1
        self._start(envelope)
        return True

    def _start(self, envelope: Envelope) -> None:
        """All ports are taken: keep them as long as the transfer takes."""
        now = self.clock.now
        hold, sent, arrived = self.price(envelope.out.number, envelope.box.owner, envelope.nbytes)
        for port in envelope.route:
            port.hold(now + hold)
        self._travel(envelope, now + sent, now + arrived)

    def _travel(self, envelope: Envelope, sent: Time, arrived: Time) -> None:
        """The transfer starts now, and its ends are known."""
        box: Mailbox = envelope.box
        nbytes = envelope.nbytes
        out, into = envelope.out, box.into
        out.sent += 1
        out.bytes_sent += nbytes
        into.received += 1
        into.bytes_received += nbytes
        if not self.in_order:
            if box.latest is None:
                box.latest = {}
            arrived = box.latest[envelope.source] = max(arrived, box.latest.get(envelope.source, arrived))
        envelope.arrived = into.latest = arrived
        pattern: Pattern | None = envelope.pattern
        if self.watcher is not None:
            self.watcher.started(envelope, pattern, self.clock.now, sent, arrived)
        if pattern is None:  # eager: only now does it meet its pattern, if there is one
            if not self.in_order:  # or not before it has arrived, if others may overtake it
                self.clock.book(arrived, partial(self._meet_first, box, envelope.source))
            else:
                self._meet(envelope, arrived)
        self._settle(envelope, sent)
        if pattern is not None:
            envelope.pattern = None  # or each message were a circle that only the garbage collector can open
            self._settle(pattern, arrived)

    def _meet(self, envelope: Envelope, arrived: Time) -> None:
        """An eager envelope comes to the mailbox: there it meets its pattern, or stays."""
        box: Mailbox = envelope.box
        pattern = box.arrive(envelope)
        if pattern is not None:
            pattern.envelope = envelope
            self.matched(envelope, pattern)
            if self.watcher is not None:
                self.watcher.met(envelope, pattern)
            self._settle(pattern, arrived)
        elif box.probes:
            self._show(envelope, arrived)
        if box.delayed is not None and envelope.source in box.delayed:
            self._release(box, envelope)

    def _meet_first(self, box: Mailbox, source: int) -> None:
        """One has arrived from there: it is the one that was sent first, however ties are broken."""
        assert box.delayed is not None
        first = box.delayed[source][0]
        self._meet(first, first.arrived)

    def _release(self, box: Mailbox, envelope: Envelope) -> None:
        """A delayed envelope has started: the synchronous ones that were sent right after it may show themselves."""
        assert box.delayed is not None
        held = box.delayed[envelope.source]
        if not held or held[0] is not envelope:
            return  # a synchronous one that was shown already
        held.popleft()
        while held and not held[0].eager:
            self._announce(held.popleft())  # which may travel at once, and come back here
        if not held:
            box.delayed.pop(envelope.source, None)

    def _show(self, envelope: Envelope, at: Time) -> None:
        """Tell those who only look for a message that this one is there, or will be."""
        probes = envelope.box.probes
        for probe in [probe for probe in probes if probe.fits(envelope)]:
            probes.remove(probe)
            self._settle(probe, at)

    @staticmethod
    def _settle(item: Any, end: Time) -> None:
        """The end of an envelope or a pattern is known: tell whoever waits for it."""
        item.end = end
        if item.waiter is not None:
            item.waiter.settled(end)
