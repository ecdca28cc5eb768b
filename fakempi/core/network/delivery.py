"""The path of an envelope: it is sent, becomes ready (matched, or eager), takes its ports, is transferred, and arrives.

Ports are given to envelopes at the end of an instant, when all ranks that can run at that time have run (`finish`). The
result therefore does not depend on the order in which they ran. First, envelopes that waited continue: those at a port that
has become free, and those that were matched at this time. Then envelopes that were sent at this time follow, in the
order of their processes. If that lets ranks continue at the same time, because a transfer takes no time, all of this is
repeated (a delta cycle in the terms of hardware simulation).

If all ports of an envelope are free, which is the most frequent case, the end is known at once and nothing is added to the
agenda. Otherwise the envelope waits in the queue of the first port that is busy. An eager envelope is matched when its
transfer starts, a synchronous one as soon as both sides are posted. A receiver therefore never waits for a message that is
delayed at its sender's port while another message could arrive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import Any

from fakempi.core.hooks import Hooked, Layer, OnCarry, OnExpect, OnJoin, OnSend
from fakempi.core.network.cost import CostModel, Time
from fakempi.core.network.envelope import Envelope, Pattern
from fakempi.core.network.guard import Guard
from fakempi.core.network.matching import Mailbox
from fakempi.core.network.ports import FOREVER, Clock, Place, Port, Ports

SENDER = attrgetter("out.number")
SERIAL = attrgetter("serial")

ANY_TIME = -1
"""The time of all entries in the queue of an output port, which serves them in the order of their sends."""


class _Closed(OnSend[Envelope], OnExpect[Pattern], OnJoin[Envelope, Pattern], OnCarry[Envelope]):
    """Rejects every call."""

    layer = Layer.TIME_LIMIT

    def __init__(self, rejection: Callable[[], None]) -> None:
        self.rejection = rejection

    def reject(self, *_: Any) -> None:
        """Reject a call of any hook point."""
        self.rejection()

    send = expect = join = carry = reject


class Delivery(Hooked):
    """Transfers envelopes.

    Hook points: an envelope is sent (`send`), a pattern is posted (`expect`), the two are joined (`join`) or belong together
    from the start (`carry`), an envelope and a pattern match (`matched`), and arrival times are requested (`clear_at`).

    A recorder of a trace sets `watcher`, an object with these methods:

    started(envelope, pattern, start, sent, arrived)
        Called when a transfer starts. The pattern is None if the envelope has not been matched.
    met(envelope, pattern)
        Called when an envelope is matched after its transfer has started.

    A recorder sees sends and the other matches at the hook points `send`, `carry`, `expect` and `join`.
    """

    HOOK_POINTS = ("send", "expect", "join", "carry", "matched", "clear_at")

    matched: Callable[[Envelope, Pattern], None]
    """Copies the content of an envelope to the target of its pattern. A parameter of the constructor."""

    def __init__(self, clock: Clock, cost: CostModel, matched: Callable[[Envelope, Pattern], None]) -> None:
        self.clock, self.cost = clock, cost
        self.watcher: Any = None
        self.new: list[Any] = []  # the envelopes that were sent at this time; None for each entry of `continued`
        self.continued: list[Envelope | Port] = []  # envelopes that were matched at this time, and ports that became free
        clock.finish_with(self.new, self.finish)
        if type(self).send is Delivery.send:
            self.provide(matched=matched, send=self.new.append)  # one call less for each message
        else:
            self.provide(matched=matched)
        self.linear = cost.linear
        self.price = cost.transfer
        self.ports = Ports(clock, cost, self._freed)
        self.by_task = False  # whether envelopes of a process are ordered by the task that sends them (`Envelope.task`)
        self.serials = 0  # number of envelopes that have had to wait
        self.tickets = 0  # half duplex: number of envelopes that have claimed ports
        self.attempts: list[Place] = []  # a heap: envelopes that try to take a port now
        self.is_giving = False  # whether ports are being given to these envelopes
        self.out, self.into = self.ports.out, self.ports.into
        # Two ports of width one and nothing shared: no route is computed, which saves a third of the work.
        self.plain = cost.duplex and cost.ports == 1 and not cost.shares
        self.in_order = cost.in_order and cost.ports == 1

    # -- hook points ----------------------------------------------------------------------------------------------

    def send(self, envelope: Envelope) -> None:
        """Send an envelope now."""
        self.new.append(envelope)

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
            self._continue_later(envelope)

    def carry(self, envelope: Envelope, pattern: Any) -> None:
        """Transfer an envelope whose pattern is known from the start, without a mailbox."""
        envelope.pattern = pattern
        self.new.append(envelope)

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

    def waiting(self, processes: Iterable[int]) -> Iterator[Envelope]:
        """Return the envelopes that wait for ports of these processes, for ports of nodes, or for links."""
        self.finish()
        return self.ports.waiting(processes)

    # -- the end of an instant ------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Match the envelopes that were sent at this time, and give free ports to envelopes that are ready."""
        new = self.new.copy()
        self.new.clear()
        if self.continued:
            self._continue()
            new = [envelope for envelope in new if envelope is not None]
        self._sort(new)
        for envelope in new:
            self._launch(envelope)

    def _sort(self, new: list[Envelope]) -> None:
        """Sort the envelopes that were sent at this time; those of one task stay in the order in which they were sent."""
        if self.by_task:
            new.sort(key=lambda envelope: (envelope.out.number, getattr(envelope, "task", 0)))
        else:
            new.sort(key=SENDER)

    def _continue_later(self, item: Envelope | Port) -> None:
        """At the end of this instant, continue with an envelope, or with those that wait for a port."""
        self.continued.append(item)
        self.new.append(None)

    def _freed(self, port: Port) -> None:
        """A port is free, and envelopes wait for it: continue with the first one, at once if ports are being given."""
        if not self.is_giving or not self.cost.duplex:
            self._continue_later(port)
        elif (place := port.first()) is not None:
            heappush(self.attempts, self._attempt(place))

    def _attempt(self, place: Place) -> Place:
        """Return the attempt of an envelope that was in the queue of a port."""
        return (self.clock.now, *place[1:]) if place[0] == ANY_TIME else place

    def _continue(self) -> None:
        """Continue with envelopes that were matched at this time, and with those that wait for a free port."""
        items, self.continued = self.continued, []
        places = [place for item in items if isinstance(item, Port) and (place := item.first()) is not None]
        matched = sorted((item for item in items if isinstance(item, Envelope)), key=SERIAL)
        if self.cost.duplex:
            self._retry(places, matched)
        else:
            for _, envelope in sorted({place[1:] for place in places}):
                if envelope.arrived is None:
                    self._claim(envelope)
            for envelope in matched:
                self._depart(envelope)

    def _retry(self, places: list[Place], matched: list[Envelope]) -> None:
        """Full duplex: let envelopes take the ports for which they waited; those that are ready now come after them."""
        self.attempts += map(self._attempt, places)
        heapify(self.attempts)
        self.is_giving = bool(places)
        for envelope in matched:
            self._depart(envelope)
        self._make_attempts()

    def _launch(self, envelope: Envelope) -> None:
        """Send an envelope on its way: to its ports if it is ready, else to the mailbox."""
        box: Mailbox = envelope.box
        self.serials = envelope.serial = self.serials + 1
        if envelope.pattern is not None:
            self._depart(envelope)
        elif box.delayed is not None and envelope.source in box.delayed:
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
        if self.plain and not self.attempts:
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
        envelope.route, envelope.stage = self.ports.route(out.number, into.number), 0
        if not self.cost.duplex:
            self.tickets = envelope.number = self.tickets + 1
            return self._claim(envelope)
        heappush(self.attempts, (self.clock.now, envelope.serial, envelope))
        if not self.is_giving:
            self._make_attempts()
        return envelope.arrived is not None

    def _claim(self, envelope: Envelope) -> bool:
        """Half duplex: claim the ports of the route one by one, while all claimed ports admit the envelope; then start."""
        route = envelope.route
        while all(port.admits(envelope) for port in route[: envelope.stage]):
            if envelope.stage == len(route):
                self._start(envelope)
                return True
            route[envelope.stage].take((0, envelope.number, envelope))
            envelope.stage += 1
        return False

    def _make_attempts(self) -> None:
        """Full duplex: let envelopes take their next ports, in order, until each has to wait or its transfer starts.

        An attempt with a busy port moves the envelope to the queue of the port.
        """
        attempts, now, self.is_giving = self.attempts, self.clock.now, True
        while attempts:
            since, serial, envelope = heappop(attempts)
            route, stage = envelope.route, envelope.stage
            while route[stage].take((since if stage else ANY_TIME, serial, envelope)):
                stage += 1
                if stage == len(route):
                    self._start(envelope)
                    break
                since, envelope.stage = now, stage
                if attempts and attempts[0] < (now, serial, envelope):
                    heappush(attempts, (now, serial, envelope))
                    break
        self.is_giving = False

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
                self.clock.call_at(arrived, partial(self._match_first_arrived, box, envelope.source))
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
