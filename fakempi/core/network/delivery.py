"""The path of an envelope: it is sent, becomes ready (matched, or eager), takes its ports, is transferred, and arrives.

If all ports are free, which is the most frequent case, the end is known at once and nothing is added to the agenda.
Otherwise the envelope waits in the queue of the first port that is busy. An eager envelope is matched when its transfer
starts, a synchronous one as soon as both sides are posted. A receiver therefore never waits for a message that is delayed at
its sender's port while another message could arrive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from fakempi.core.hooks import Hooked, Layer, OnAtOnce, OnCarry, OnExpect, OnJoin, OnSend
from fakempi.core.network.cost import CostModel, Time
from fakempi.core.network.envelope import Envelope, Pattern
from fakempi.core.network.guard import Guard
from fakempi.core.network.matching import Mailbox
from fakempi.core.network.ports import FOREVER, Clock, Port, Ports


class _Closed(
    OnSend[Envelope], OnExpect[Pattern], OnJoin[Envelope, Pattern], OnCarry[Envelope], OnAtOnce[Port]
):  # fmt: skip
    """Rejects every call."""

    layer = Layer.TIME_LIMIT

    def __init__(self, rejection: Callable[[], None]) -> None:
        self.rejection = rejection

    def reject(self, *_: Any) -> None:
        """Reject a call of any hook point."""
        self.rejection()

    send = expect = join = carry = at_once = reject


class Delivery(Hooked):
    """Transfers envelopes.

    Hook points: an envelope is sent (`send`), a pattern is posted (`expect`), the two are joined (`join`) or belong together
    from the start (`carry`), an envelope and a pattern match (`matched`), bytes are transferred without an envelope
    (`at_once`), and arrival times are requested (`clear_at`).

    A recorder of a trace sets `watcher`, an object with these methods:

    posted(envelope)
        Called when an envelope is sent.
    started(envelope, pattern, start, sent, arrived)
        Called when a transfer starts. The pattern is None if the envelope has not been matched.
    started_at_once(envelope, pattern, now, end)
        Called in place of both if the transfer starts when the envelope is sent.
    met(envelope, pattern)
        Called when an envelope is matched after its transfer has started.

    A recorder sees the other matches at the hook points `expect` and `join`.
    """

    HOOK_POINTS = ("send", "expect", "join", "carry", "matched", "at_once", "clear_at")

    matched: Callable[[Envelope, Pattern], None]
    """Copies the content of an envelope to the target of its pattern. A parameter of the constructor."""

    def __init__(self, clock: Clock, cost: CostModel, matched: Callable[[Envelope, Pattern], None]) -> None:
        self.clock, self.cost = clock, cost
        self.watcher: Any = None
        self.provide(matched=matched)
        self.linear = cost.linear
        self.price = cost.transfer
        self.ports = Ports(clock, cost, self._next_port if cost.duplex else self._claim_again)
        self.tickets = 0  # half duplex: number of envelopes that have claimed ports
        self.out, self.into = self.ports.out, self.ports.into
        # Two ports of width one and nothing shared: no route is computed, which saves a third of the work.
        self.plain = cost.duplex and cost.ports == 1 and not cost.shares
        self.in_order = cost.in_order and cost.ports == 1

    # -- hook points ----------------------------------------------------------------------------------------------

    def send(self, envelope: Envelope) -> None:
        """Send an envelope now."""
        box: Mailbox = envelope.box
        if self.watcher is not None:
            self.watcher.posted(envelope)
        if box.delayed is not None and envelope.source in box.delayed:
            box.delayed[envelope.source].append(envelope)  # after the envelopes that were sent before
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
        """Post a pattern: wait for an envelope that matches from now on."""
        envelope = pattern.box.expect(pattern)
        if envelope is not None:
            self.join(envelope, pattern)

    def join(self, envelope: Envelope, pattern: Pattern) -> None:
        """Match an envelope that waited in the mailbox with a pattern."""
        pattern.envelope = envelope
        self.matched(envelope, pattern)
        if envelope.arrived is not None:  # it is eager, and its transfer has started
            now = self.clock.now
            self._settle(pattern, envelope.arrived if envelope.arrived > now else now)
        else:
            envelope.pattern = pattern
            self._depart(envelope)

    def carry(self, envelope: Envelope, pattern: Any) -> None:
        """Transfer an envelope whose pattern is known from the start, without a mailbox."""
        envelope.pattern = pattern
        self._depart(envelope)

    def at_once(self, out: Port, into: Port, nbytes: int) -> Time | None:
        """Transfer bytes without an envelope, if that is possible; return the time of arrival, or None."""
        return None

    def clear_at(self, box: Mailbox) -> Time:
        """Return the time at which all transfers to a mailbox end; if `in_order`, those to all mailboxes of its process."""
        if not self.in_order:
            return max(box.latest.values()) if box.latest else self.clock.now
        into: Port = box.into
        return max(into.free_at, into.latest) if into.free_at < FOREVER else into.latest  # inf: not started yet

    def use_guard(self, guard: Guard) -> None:
        """Check the values that the cost model returns from now on."""
        self.price = guard.transfer
        self.ports.use_guard(guard)

    def close(self, rejection: Callable[[], None]) -> None:
        """Reject all sends and receives from now on: `rejection` is called instead."""
        self.subscribe(_Closed(rejection))

    # -- transfers ------------------------------------------------------------------------------------------------

    @staticmethod
    def _delay(envelope: Envelope) -> None:
        """Delay later messages of the same sender until this envelope has arrived."""
        box: Mailbox = envelope.box
        if box.delayed is None:
            box.delayed = {}
        box.delayed[envelope.source] = deque((envelope,))

    def _announce(self, envelope: Envelope) -> None:
        """Put a synchronous envelope into the mailbox; if a pattern matches, start its transfer."""
        pattern = envelope.box.arrive(envelope)
        if pattern is None:
            if envelope.box.probes:
                self._complete_probes(envelope, self.clock.now)
        else:
            envelope.pattern = pattern
            pattern.envelope = envelope
            self.matched(envelope, pattern)
            self._depart(envelope)

    def _depart(self, envelope: Envelope) -> bool:
        """Take the ports of a ready envelope and start its transfer; return False if it has to queue for a port."""
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
        self.tickets = envelope.number = self.tickets + 1
        return self._claim(envelope)

    def _claim(self, envelope: Envelope) -> bool:
        """Half duplex: claim the ports of the route one by one, while all claimed ports admit the envelope; then start."""
        route = envelope.route
        while all(port.admits(envelope) for port in route[: envelope.stage]):
            if envelope.stage == len(route):
                self._start(envelope)
                return True
            route[envelope.stage].take(envelope)
            envelope.stage += 1
        return False

    def _claim_again(self, envelope: Envelope) -> None:
        """Half duplex: continue with an envelope that is now the first at a free port that it has claimed."""
        self._claim(envelope)

    def _next_port(self, envelope: Envelope) -> None:
        """Full duplex: continue with an envelope that has been given the port for which it queued."""
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
        """Start the transfer of an envelope that has all ports of its route; hold them for the time that it takes."""
        now = self.clock.now
        hold, sent, arrived = self.price(envelope.out.number, envelope.box.owner, envelope.nbytes)
        for port in envelope.route:
            port.hold(now + hold)
        self._travel(envelope, now + sent, now + arrived)

    def _travel(self, envelope: Envelope, sent: Time, arrived: Time) -> None:
        """Count a transfer that starts now and whose end is known; match an eager envelope."""
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
        if pattern is None:  # an eager envelope
            if not self.in_order:  # other messages may overtake it: match it when it has arrived
                self.clock.run_at(arrived, partial(self._match_first_arrived, box, envelope.source))
            else:
                self._match_arrived(envelope, arrived)
        self._settle(envelope, sent)
        if pattern is not None:
            envelope.pattern = None  # break the reference cycle, so that reference counting frees the message
            self._settle(pattern, arrived)

    def _match_arrived(self, envelope: Envelope, arrived: Time) -> None:
        """Put an eager envelope into the mailbox; if a pattern matches, complete the pattern at the time of arrival."""
        box: Mailbox = envelope.box
        pattern = box.arrive(envelope)
        if pattern is not None:
            pattern.envelope = envelope
            self.matched(envelope, pattern)
            if self.watcher is not None:
                self.watcher.met(envelope, pattern)
            self._settle(pattern, arrived)
        elif box.probes:
            self._complete_probes(envelope, arrived)
        if box.delayed is not None and envelope.source in box.delayed:
            self._release(box, envelope)

    def _match_first_arrived(self, box: Mailbox, source: int) -> None:
        """After an arrival from a source, match the envelope that it sent first: several may arrive at one time."""
        assert box.delayed is not None
        first = box.delayed[source][0]
        self._match_arrived(first, first.arrived)

    def _release(self, box: Mailbox, envelope: Envelope) -> None:
        """After a delayed envelope has entered the mailbox, announce the synchronous envelopes sent after it.

        Stop at the next eager envelope, which is put into the mailbox when it arrives.
        """
        assert box.delayed is not None
        waiting = box.delayed[envelope.source]
        if not waiting or waiting[0] is not envelope:
            return  # a synchronous envelope that was announced before
        waiting.popleft()
        while waiting and not waiting[0].eager:
            self._announce(waiting.popleft())  # may start a transfer, which calls this function again
        if not waiting:
            box.delayed.pop(envelope.source, None)

    def _complete_probes(self, envelope: Envelope, at: Time) -> None:
        """Complete the probes that match an envelope, at the time `at`."""
        probes = envelope.box.probes
        for probe in [probe for probe in probes if probe.matches(envelope)]:
            probes.remove(probe)
            self._settle(probe, at)

    @staticmethod
    def _settle(item: Any, end: Time) -> None:
        """Set the end of an envelope or a pattern, and notify the task that waits for it."""
        item.end = end
        if item.waiter is not None:
            item.waiter.settled(end)
