"""Ports and links: a transfer holds them while it takes place; first come, first served.

A process has an output port and an input port, or one for both (half duplex), or several of each. A node of a cluster has
network ports that its processes share. A transfer takes the ports of its route one after the other, output before input, and
holds all of them until it ends. A cost model may name links instead of network ports. Links are not held until the end:
a message holds each link for its bytes from the time at which it gets the link, and continues to the next link at once
(virtual cut-through). If that one is busy, the message waits in the network. If links were held, a ring of messages with two
links each would be serialized.

Transfers therefore never wait for one another in a cycle: a link becomes free at a known time, whatever its message waits
for, and all transfers take ports in the same order (output, network output, network input, input), so a transfer that holds
its last port waits for no other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush, heapreplace
from itertools import chain
from typing import Any, Protocol

from fakempi.core.network.cost import CostModel, Link, Time, check
from fakempi.core.network.envelope import Envelope
from fakempi.core.network.guard import Guard

FOREVER = float("inf")


class Clock(Protocol):
    """The clock that ports and deliveries use."""

    now: Time

    def run_at(self, at: Time, action: Callable[[], None]) -> None:
        """Call an action at a time."""


class Port:
    """Serves one transfer at a time. `free_at` is infinite until the transfer that has taken it starts."""

    __slots__ = (
        "bytes_received", "bytes_sent", "clock", "free_at", "latest", "number", "onward", "queue", "received", "sent",
    )  # fmt: skip

    def __init__(self, clock: Clock, number: int, onward: Callable[[Envelope], None]) -> None:
        self.clock = clock
        self.number = number  # of the process; of a node or link: -1, -2 ...
        self.onward = onward  # called with an envelope that gets the port, to continue its transfer
        self.free_at: Time = 0
        self.latest: Time = 0  # when the last transfer arrives, if that differs from `free_at`
        self.queue: deque[Envelope] | None = None
        self.sent = self.received = 0
        self.bytes_sent = self.bytes_received = 0

    def take(self, envelope: Envelope) -> bool:
        """Give the port to an envelope, or append the envelope to the queue; return whether it has the port."""
        if self.free_at <= self.clock.now and not self.queue:
            self.free_at = FOREVER
            return True
        if self.queue is None:
            self.queue = deque()
        if not self.queue and self.free_at < FOREVER:
            self.clock.run_at(self.free_at, self._serve)
        self.queue.append(envelope)
        return False

    def hold(self, until: Time) -> None:
        """Set the end of the transfer that has the port."""
        self.free_at = until
        if self.queue:
            self.clock.run_at(until, self._serve)

    def waiting(self) -> list[Envelope]:
        """Return the envelopes that wait for the port."""
        return list(self.queue or ())

    def _serve(self) -> None:
        assert self.queue
        self.free_at = FOREVER
        self.onward(self.queue.popleft())


class WidePort(Port):
    """Serves several transfers at a time."""

    __slots__ = ("idle",)

    def __init__(self, clock: Clock, number: int, onward: Callable[[Envelope], None], width: int) -> None:
        super().__init__(clock, number, onward)
        self.idle = width

    def take(self, envelope: Envelope) -> bool:
        """Give one of the ports to an envelope, or append the envelope to the queue; return whether it has a port."""
        if self.idle and not self.queue:
            self.idle -= 1
            return True
        if self.queue is None:
            self.queue = deque()
        self.queue.append(envelope)
        return False

    def hold(self, until: Time) -> None:
        """Set the end of one transfer."""
        self.clock.run_at(until, self._serve)

    def _serve(self) -> None:
        if self.queue:
            self.onward(self.queue.popleft())
        else:
            self.idle += 1


class LinkPort(Port):
    """Serves `width` transfers at a time, each for its bytes and a gap.

    The end is known at the start, so nothing is booked unless an envelope waits.
    """

    __slots__ = ("busy", "gap", "t_w", "width")

    def __init__(self, clock: Clock, number: int, onward: Callable[[Envelope], None], link: Link) -> None:
        super().__init__(clock, number, onward)
        self.t_w, self.width, self.gap = link
        self.busy: list[Time] = []  # a heap: the time at which each link that has been used is free again

    def take(self, envelope: Envelope) -> bool:
        """Give a link to an envelope, or append the envelope to the queue; return whether it has a link."""
        now, busy = self.clock.now, self.busy
        if not self.queue:
            if busy and busy[0] <= now:
                heapreplace(busy, now + (self.gap + envelope.nbytes * self.t_w))
                return True
            if len(busy) < self.width:
                heappush(busy, now + (self.gap + envelope.nbytes * self.t_w))
                return True
            self.queue = deque()
            self.clock.run_at(busy[0], self._serve)
        assert self.queue is not None
        self.queue.append(envelope)
        return False

    def hold(self, until: Time) -> None:
        """Do nothing: the end was set when the link was taken."""

    def _serve(self) -> None:
        assert self.queue
        envelope = self.queue.popleft()
        heapreplace(self.busy, self.clock.now + (self.gap + envelope.nbytes * self.t_w))
        if self.queue:
            self.clock.run_at(self.busy[0], self._serve)
        self.onward(envelope)


class SharedPort(Port):
    """One port for both directions (half duplex), or several of them.

    If a sender held its port while it waits for the receiver's, two processes that send to each other would deadlock. An
    envelope therefore claims its ports one after the other without holding them, and starts when its claim is the first at
    all of them and all are free. All ports order claims by the time at which envelopes became ready, so the envelope that
    was ready first can always start.
    """

    __slots__ = ("claims", "idle")

    def __init__(self, clock: Clock, number: int, onward: Callable[[Envelope], None], width: int) -> None:
        super().__init__(clock, number, onward)
        self.idle = width
        self.claims: list[tuple[int, Envelope]] = []

    def take(self, envelope: Envelope) -> bool:
        """Add a claim; return whether the envelope could start, as far as this port is concerned."""
        heappush(self.claims, (envelope.number, envelope))
        return self.admits(envelope)

    def admits(self, envelope: Envelope) -> bool:
        """Return whether an envelope with a claim could start, as far as this port is concerned."""
        return self.idle > 0 and self.claims[0][1] is envelope

    def hold(self, until: Time) -> None:
        """Start the transfer of the first claim, and set its end."""
        heappop(self.claims)
        self.idle -= 1
        self.clock.run_at(until, self._serve)
        if self.idle and self.claims:
            self.clock.run_at(self.clock.now, self._admit_first)

    def waiting(self) -> list[Envelope]:
        """Return the envelopes that have a claim."""
        return [envelope for _, envelope in self.claims]

    def _serve(self) -> None:
        self.idle += 1
        self._admit_first()

    def _admit_first(self) -> None:
        if self.idle and self.claims:
            self.onward(self.claims[0][1])


class SharedLink(SharedPort):
    """A link with half-duplex processes: claimed like their ports, and free after the bytes and a gap."""

    __slots__ = ("gap", "t_w")

    def __init__(self, clock: Clock, number: int, onward: Callable[[Envelope], None], link: Link) -> None:
        super().__init__(clock, number, onward, link.width)
        self.t_w, self.gap = link.t_w, link.gap

    def hold(self, until: Time) -> None:
        """Start the transfer of the first claim; the link is free after its bytes and the gap."""
        super().hold(self.clock.now + (self.gap + self.claims[0][1].nbytes * self.t_w))


class Ports:
    """The ports of all processes, nodes and links, created when they are first used."""

    def __init__(self, clock: Clock, cost: CostModel, onward: Callable[[Envelope], None]) -> None:
        self.clock, self.cost, self.onward = clock, cost, onward
        self.node, self.links_of, self.link_of = cost.node, cost.route, cost.link
        self.out: list[Port] = []
        self.into: list[Port] = []
        self.nodes: dict[Any, tuple[Port, Port]] = {}
        self.links: dict[Any, Port] = {}
        self.named = type(cost).route is not CostModel.route

    def use_guard(self, guard: Guard) -> None:
        """Check the values that the cost model returns from now on."""
        self.node, self.links_of, self.link_of = guard.node, guard.route, guard.link

    def add_process(self) -> int:
        """Create the ports of a new process; return its number."""
        number = len(self.out)
        out = self._make(number, self.cost.ports)
        self.out.append(out)
        self.into.append(self._make(number, self.cost.ports) if self.cost.duplex else out)
        return number

    def route(self, source: int, dest: int) -> tuple[Port, ...]:
        """Return the ports of a transfer in the order in which it takes them."""
        out, into = self.out[source], self.into[dest]
        names = self.links_of(source, dest) if self.named else None
        if names is not None:
            links = self.links
            ports = (out, *[links[name] if name in links else self._link(name) for name in names], into)
        else:
            source_node, dest_node = self.node(source), self.node(dest)
            if source_node == dest_node:
                ports = (out, into)
            else:
                ports = (out, self._node(source_node)[0], self._node(dest_node)[1], into)
        return ports if self.cost.duplex else tuple(dict.fromkeys(ports))

    def waiting(self, processes: Iterable[int]) -> Iterator[Envelope]:
        """Return all envelopes that wait for a port of these processes, for a port of a node, or for a link."""
        own = (port for number in processes for port in (self.out[number], self.into[number]))
        for port in chain(own, *self.nodes.values(), self.links.values()):
            yield from port.waiting()

    def _node(self, node: Any) -> tuple[Port, Port]:
        if node not in self.nodes:
            number, width = -1 - len(self.nodes), self.cost.network_ports
            out = self._make(number, width)
            self.nodes[node] = (out, self._make(number, width) if self.cost.duplex else out)
        return self.nodes[node]

    def _link(self, name: Any) -> Port:
        link = self.link_of(name)
        check(f"{type(self.cost).__name__}: link {name!r}", t_w=link.t_w, gap=link.gap)
        check(f"{type(self.cost).__name__}: link {name!r}", minimum=1, width=link.width)
        kind = LinkPort if self.cost.duplex else SharedLink
        port = self.links[name] = kind(self.clock, -1 - len(self.links), self.onward, link)
        return port

    def _make(self, number: int, width: int) -> Port:
        if not self.cost.duplex:
            return SharedPort(self.clock, number, self.onward, width)
        if width == 1:
            return Port(self.clock, number, self.onward)
        return WidePort(self.clock, number, self.onward, width)
