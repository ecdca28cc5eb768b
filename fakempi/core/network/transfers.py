"""An envelope that is ready takes its ports, one after the other, and its transfer starts.

If all ports of an envelope are free, which is the most frequent case, the end is known at once and nothing is added to the
agenda. Otherwise the envelope waits in the queue of the first port that is busy. Envelopes that want a port since the same
time are served by the number of messages that are left at their senders, the largest first, so that a rank with much to send
is not delayed by one with little (longest queue first, as in the scheduling of switches); then in the order of their sends.
If links have no latency, messages move one link at a time, as if they had a very small one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial
from heapq import heappop, heappush
from math import inf
from typing import Any

from fakempi.core.hooks import Hooked
from fakempi.core.network.cost import CostModel
from fakempi.core.network.envelope import Envelope
from fakempi.core.network.flight import Flight, heads_of
from fakempi.core.network.guard import Guard
from fakempi.core.network.parameters import Time
from fakempi.core.network.ports import Clock, Port, Ports, QueueEntry

ANY_TIME = -1
"""The time of all entries in the queue of an output port, which serves them in the order of their sends."""

MAX_WAYS = 50_000
"""Number of routes that are kept, so that they are not computed for each message: some megabytes."""

Way = tuple[tuple[Port, ...], Sequence[Time]]
"""The ports of a route, and when the first byte reaches each of them."""


def order_of(envelope: Envelope) -> tuple[float, int, int]:
    """Return the position of an envelope among all that wait for a port since the same time: the longest queue is the first.

    The first number counts links that the message has passed at that time, so that messages move one link at a time; it is
    infinite at the receiver's port.
    """
    return (0 if len(envelope.route) > 2 else inf), -len(envelope.out.queue or ()), envelope.serial


class Transfers(Hooked):
    """Gives ports to envelopes."""

    def __init__(self, clock: Clock, cost: CostModel) -> None:
        self.clock, self.cost = clock, cost
        self.new: list[Any] = []  # the envelopes that were sent at this time; None for each entry of `continued`
        self.continued: list[Envelope | Port | QueueEntry] = []  # for the end of this instant; see `_continue_later`
        self.linear = cost.linear
        self.price = cost.transfer
        # None: latency is the difference of two times that `price` returns
        self.latency = None if type(cost).latency is CostModel.latency else cost.latency
        self.in_flight: dict[Envelope, None] = {}  # envelopes whose first byte is on its way to a link or port, in order
        self.ports = Ports(clock, cost, self._freed)
        self.out, self.into = self.ports.out, self.ports.into
        self.tickets = 0  # half duplex: number of envelopes that have claimed ports
        self.attempts: list[QueueEntry] = []  # a heap: envelopes that try to take a port now
        self.is_giving = False  # whether ports are being given to these envelopes
        self.ready: list[Any] | None = None  # serial numbers and envelopes that will take output ports together
        # Two ports of width one and nothing shared: no route is computed, which saves a third of the work.
        self.plain = cost.duplex and cost.ports == 1 and not cost.shares
        self.books_ahead = self.plain and cost.uniform_latency  # see `_fly`
        self.in_order = cost.in_order and cost.ports == 1
        self.ways: dict[tuple[Port, Port, Time], Way] = {}  # known routes, by two ports and latency
        self.latest_due: dict[tuple[Port, Port], Time] = {}  # by two ports; unless they are in order anyway

    def use_guard(self, guard: Guard) -> None:
        """Check the values that the cost model returns from now on."""
        self.price = guard.transfer
        if self.latency is not None:
            self.latency = guard.latency
        self.ports.use_guard(guard)

    @abstractmethod
    def _travel(self, envelope: Envelope, start: Time, sent: Time, arrived: Time) -> None:
        """Count a transfer whose end is known."""

    @staticmethod
    def _settle(item: Any, end: Time) -> None:
        """Set the end of an envelope or a receive, and notify the task that waits for it."""
        item.end = end
        if item.waiter is not None:
            item.waiter.settled(end)

    def _continue_later(self, item: Envelope | Port | QueueEntry) -> None:
        """At the end of this instant, continue with a matched envelope, those that wait for a port, or one on its way."""
        self.continued.append(item)
        self.new.append(None)

    def _freed(self, port: Port) -> None:
        """A port is free, and envelopes wait for it: continue with the first one, at once if ports are being given."""
        if not self.is_giving:
            self._continue_later(port)
        elif (entry := port.first()) is None:
            pass
        elif entry[0] == ANY_TIME:
            self._take_output(entry[2])
        else:
            heappush(self.attempts, entry)

    def _depart(self, envelope: Envelope) -> bool:
        """Take the ports of a ready envelope and start its transfer; return False if it has to queue for a port."""
        out, into, now = envelope.out, envelope.box.into, self.clock.now
        is_free = self.plain and not self.attempts and self.ready is None and out.free_at <= now and not out.queue
        latency: Time = 0
        if self.linear is not None:
            t_s, t_w = self.linear
            hold = sent = arrived = t_s + envelope.nbytes * t_w
        elif is_free or self.cost.duplex:
            source, dest, nbytes = out.number, into.number, envelope.nbytes
            hold, sent, arrived = self.price(source, dest, nbytes)
            latency = arrived - hold if self.latency is None else self.latency(source, dest, nbytes)
        if is_free and not into.queue and into.free_at <= now + latency and (latency <= 0 or self.books_ahead):
            out.free_at = now + hold
            into.free_at = now + latency + hold if latency > 0 else now + hold
            self._travel(envelope, now, now + sent, now + arrived)
            return True
        envelope.route, heads = self._way(out, into, latency)
        envelope.stage = 0
        if not self.cost.duplex:
            self.tickets = envelope.number = self.tickets + 1
            return self._claim(envelope)
        envelope.flight = Flight(hold, sent, arrived, heads) if latency > 0 else None
        if self.ready is not None:
            self.ready.append((envelope.serial, envelope))
            return False
        self._take_output(envelope)
        if not self.is_giving:
            self._make_attempts()
        return envelope.arrived is not None

    def _way(self, out: Port, into: Port, latency: Time) -> Way:
        """Return the route of a message, and when its first byte reaches the ports."""
        key = out, into, latency
        way = self.ways.get(key)
        if way is None:
            if len(self.ways) >= MAX_WAYS:
                self.ways.clear()
            route = self.ports.between(out, into)
            way = self.ways[key] = route, heads_of(route, latency)
        return way

    def _take_output(self, envelope: Envelope) -> None:
        """Let an envelope take its output port, if that is free."""
        if envelope.out.take((ANY_TIME, envelope.serial, envelope)):
            self._enter(envelope, order_of(envelope))

    def _enter(self, envelope: Envelope, order: Any) -> None:
        """Continue with an envelope that has taken its output port."""
        envelope.stage = 1
        if envelope.flight is not None:
            envelope.flight.order = order
            if self._fly(envelope):
                return
        heappush(self.attempts, (self.clock.now, order, envelope))

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
            since, order, envelope = heappop(attempts)
            route, stage = envelope.route, envelope.stage
            while route[stage].take((since, order, envelope)):
                stage += 1
                if stage == len(route):
                    self._start(envelope)
                    break
                order = (inf if stage == len(route) - 1 else order[0] + 1 if since == now else 1, *order[1:])
                since, envelope.stage = now, stage
                if envelope.flight is not None and self._fly(envelope):
                    break
                if attempts and attempts[0] < (now, order, envelope):
                    heappush(attempts, (now, order, envelope))
                    break
        self.is_giving = False

    def _start(self, envelope: Envelope) -> None:
        """Start the transfer of an envelope that has all ports of its route; hold them for the time that it takes."""
        now = self.clock.now
        if self.cost.duplex and envelope.flight is not None:
            self._land(envelope, now)
            return
        hold, sent, arrived = self.price(envelope.out.number, envelope.box.owner, envelope.nbytes)
        for port in envelope.route:
            port.hold(now + hold)
        self._travel(envelope, now, now + sent, now + arrived)

    def _fly(self, envelope: Envelope) -> bool:
        """Continue after a message with latency has taken a port; return False if it reaches the next port now.

        If all messages have the same latency, they reach the receiver's port in the order in which they start. So its time
        is booked when they start, which saves an entry of the agenda for each message.
        """
        flight, stage, now = envelope.flight, envelope.stage, self.clock.now
        head = flight.reach(stage - 1, now)
        self._leave(envelope, head)
        due = flight.start + head
        if not self.in_order and stage == len(flight.heads) - 1:  # a short message may be faster than an earlier long one
            pair = envelope.out, envelope.box.into
            due = self.latest_due[pair] = max(due, self.latest_due.get(pair, due))
        if self.books_ahead:
            self._land(envelope, max(due, envelope.box.into.free_at))
        elif due > now:
            self.in_flight[envelope] = None
            self.clock.call_at(due, partial(self._reach, envelope))
        return due > now or self.books_ahead

    def _reach(self, envelope: Envelope) -> None:
        """Let a message take the link or the port that its first byte reaches now, at the end of this instant."""
        del self.in_flight[envelope]
        first = inf if envelope.stage == len(envelope.route) - 1 else 0
        self._continue_later((self.clock.now, (first, *envelope.flight.order[1:]), envelope))

    def _leave(self, envelope: Envelope, head: Time) -> None:
        """Set the end of a send, and release the sender's ports, if that is before the message reaches the next port."""
        flight = envelope.flight
        if envelope.end is None and head >= flight.sent:
            flight.started = flight.start
            self._settle(envelope, flight.start + flight.sent)
        if not flight.has_left and head >= flight.hold:
            flight.has_left = True
            for port, at in zip(envelope.route, flight.heads, strict=True):
                if at == 0:
                    port.hold(flight.start + flight.hold)

    def _land(self, envelope: Envelope, at: Time) -> None:
        """Give the receiver's port to a message with latency, at a time when the port is free."""
        flight = envelope.flight
        flight.reach(len(flight.heads) - 1, at)
        self._leave(envelope, inf)
        for port, head in zip(envelope.route, flight.heads, strict=True):
            if head == flight.latency:
                port.hold(at + flight.hold)
        self._travel(envelope, flight.started, envelope.end, max(at, flight.start + flight.arrived))
