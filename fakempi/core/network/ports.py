"""Ports and links: a transfer holds them while it takes place.

A process has an output port and an input port, or one for both (half duplex), or several of each. A node of a cluster has
network ports that its processes share. A transfer takes the ports of its route one after the other, output before input, and
holds all of them until it ends. A cost model may name links instead of network ports. Links are not held until the end:
a message holds each link for its bytes from the time at which it gets the link, and its first byte continues to the next
link (virtual cut-through). If that one is busy, the message waits and holds no link. If links were held, a ring of messages
with two links each would be serialized.

Ports are given to messages when nothing else is left to do at a time (`delivery`), so the order in which ranks run at one
time does not matter. An output port serves the message that was sent first, among those that are ready. Another port or a
link serves the message that has waited longest for it; `transfers.order_of` decides among several of these.

Transfers never wait for one another in a cycle: a link becomes free at a known time, whatever its message waits
for, and all transfers take ports in the same order (output, network output, network input, input), so a transfer that holds
its last port waits for no other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from heapq import heappop, heappush, heapreplace
from itertools import chain
from typing import Any, Protocol

from fakempi.core.network.cost import CostModel, Link
from fakempi.core.network.envelope import Envelope
from fakempi.core.network.guard import Guard
from fakempi.core.network.parameters import Time, check

FOREVER = float("inf")

QueueEntry = tuple[Time, Any, Envelope]
"""An envelope that wants a port: the time since which it has waited, its position among those since then, the envelope."""


class Clock(Protocol):
    """The clock that ports and deliveries use."""

    now: Time

    def call_at(self, at: Time, action: Callable[[], None]) -> None:
        """Call an action at a time."""

    def finish_with(self, unfinished: list[Any], finish: Callable[[], None]) -> None:
        """Call `finish` before time advances if the list is not empty."""


Freed = Callable[["Port"], None]
"""Called when a port is free again and messages wait for it."""


class Port:
    """Serves one transfer at a time. `free_at` is infinite until the transfer that has taken it starts."""

    __slots__ = (
        "bytes_received", "bytes_sent", "clock", "free_at", "freed", "latest", "number", "queue", "received", "sent",
    )  # fmt: skip

    def __init__(self, clock: Clock, number: int, freed: Freed) -> None:
        self.clock = clock
        self.number = number  # of the process; of a node or link: -1, -2 ...
        self.freed = freed
        self.free_at: Time = 0
        self.latest: Time = 0  # when the last transfer arrives, if that differs from `free_at`
        self.queue: list[QueueEntry] | None = None  # a heap
        self.sent = self.received = 0
        self.bytes_sent = self.bytes_received = 0

    def take(self, entry: QueueEntry) -> bool:
        """Give the port to an envelope, or add the envelope to the queue; return whether it has the port."""
        if self.free_at <= self.clock.now and not (self.queue and self.queue[0] < entry):
            self.free_at = FOREVER
            return True
        if not self.queue:
            self.queue = []
            if self.free_at < FOREVER:
                self._wake_at(self.free_at)
        heappush(self.queue, entry)
        return False

    def hold(self, until: Time) -> None:
        """Set the end of the transfer that has the port."""
        self.free_at = until
        if self.queue:
            self._wake_at(until)

    def _wake_at(self, at: Time) -> None:
        """Let envelopes that wait try again at a time."""
        if at > self.clock.now:
            self.clock.call_at(at, partial(self.freed, self))
        else:
            self.freed(self)

    def first(self) -> QueueEntry | None:
        """Remove and return the first envelope that waits, if the port can serve it now."""
        return heappop(self.queue) if self.queue and self.free_at <= self.clock.now else None

    def waiting(self) -> list[Envelope]:
        """Return the envelopes that wait for the port."""
        return [entry[2] for entry in self.queue or ()]


class WidePort(Port):
    """Serves several transfers at a time."""

    __slots__ = ("idle",)

    def __init__(self, clock: Clock, number: int, freed: Freed, width: int) -> None:
        super().__init__(clock, number, freed)
        self.idle = width

    def take(self, entry: QueueEntry) -> bool:
        """Give one of the ports to an envelope, or add the envelope to the queue; return whether it has a port."""
        if self.idle and not (self.queue and self.queue[0] < entry):
            self.idle -= 1
            return True
        if self.queue is None:
            self.queue = []
        heappush(self.queue, entry)
        return False

    def hold(self, until: Time) -> None:
        """Set the end of one transfer."""
        if until > self.clock.now:
            self.clock.call_at(until, self._end_one)
        else:
            self._end_one()

    def _end_one(self) -> None:
        self.idle += 1
        if self.queue:
            self.freed(self)

    def first(self) -> QueueEntry | None:
        """Remove and return the first envelope that waits, if there is an idle port."""
        return heappop(self.queue) if self.queue and self.idle else None


class LinkPort(Port):
    """Serves `width` transfers at a time, each for its bytes and a gap.

    The end is known at the start, so nothing is booked unless an envelope waits.
    """

    __slots__ = ("busy", "gap", "latency", "t_w", "width")

    def __init__(self, clock: Clock, number: int, freed: Freed, link: Link) -> None:
        super().__init__(clock, number, freed)
        self.t_w, self.width, self.gap, self.latency = link
        self.busy: list[Time] = []  # a heap: the time at which each link that has been used is free again

    def take(self, entry: QueueEntry) -> bool:
        """Give a link to an envelope, or add the envelope to the queue; return whether it has a link."""
        now, busy = self.clock.now, self.busy
        if not (self.queue and self.queue[0] < entry):
            end = now + (self.gap + entry[2].nbytes * self.t_w)
            if busy and busy[0] <= now:
                heapreplace(busy, end)
                return self._taken()
            if len(busy) < self.width:
                heappush(busy, end)
                return self._taken()
        if not self.queue:
            self.queue = []
            self._wake_at(busy[0])
        heappush(self.queue, entry)
        return False

    def _taken(self) -> bool:
        """Book the time at which the next envelope of the queue can be served."""
        if self.queue:
            self._wake_at(self.clock.now if len(self.busy) < self.width else self.busy[0])
        return True

    def hold(self, until: Time) -> None:
        """Do nothing: the end was set when the link was taken."""

    def first(self) -> QueueEntry | None:
        """Remove and return the first envelope that waits, if there is a free link."""
        free = len(self.busy) < self.width or self.busy[0] <= self.clock.now
        return heappop(self.queue) if self.queue and free else None


class SharedPort(Port):
    """One port for both directions (half duplex), or several of them.

    If a sender held its port while it waits for the receiver's, two processes that send to each other would deadlock. An
    envelope therefore claims its ports one after the other without holding them, and starts when its claim is the first at
    all of them and all are free. All ports order claims by the time at which envelopes became ready, so the envelope that
    was ready first can always start.
    """

    __slots__ = ("idle",)

    def __init__(self, clock: Clock, number: int, freed: Freed, width: int) -> None:
        super().__init__(clock, number, freed)
        self.idle = width
        self.queue: list[QueueEntry] = []  # the claims

    def take(self, entry: QueueEntry) -> bool:
        """Add a claim; return whether the envelope could start, as far as this port is concerned."""
        heappush(self.queue, entry)
        return self.admits(entry[2])

    def admits(self, envelope: Envelope) -> bool:
        """Return whether an envelope with a claim could start, as far as this port is concerned."""
        return self.idle > 0 and self.queue[0][2] is envelope

    def hold(self, until: Time) -> None:
        """Start the transfer of the first claim, and set its end."""
        heappop(self.queue)
        self.idle -= 1
        self.clock.call_at(until, self._end_one)
        if self.idle and self.queue:
            self.freed(self)

    def _end_one(self) -> None:
        self.idle += 1
        if self.queue:
            self.freed(self)

    def first(self) -> QueueEntry | None:
        """Return the first claim, which stays, if there is an idle port."""
        return self.queue[0] if self.queue and self.idle else None


class SharedLink(SharedPort):
    """A link with half-duplex processes: claimed like their ports, and free after the bytes and a gap."""

    __slots__ = ("gap", "t_w")

    def __init__(self, clock: Clock, number: int, freed: Freed, link: Link) -> None:
        super().__init__(clock, number, freed, link.width)
        self.t_w, self.gap = link.t_w, link.gap

    def hold(self, until: Time) -> None:
        """Start the transfer of the first claim; the link is free after its bytes and the gap."""
        super().hold(self.clock.now + (self.gap + self.queue[0][2].nbytes * self.t_w))


class Ports:
    """The ports of all processes, nodes and links, created when they are first used."""

    def __init__(self, clock: Clock, cost: CostModel, freed: Freed) -> None:
        self.clock, self.cost, self.freed = clock, cost, freed
        self.node, self.links_of, self.link_of = cost.node, cost.route, cost.link
        self.out: list[Port] = []
        self.into: list[Port] = []
        self.interfaces: dict[int, list[tuple[Port, Port]]] = {}  # other network interfaces, by process
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

    def add_interface(self, number: int) -> tuple[Port, Port]:
        """Create another network interface of a process; return its ports for output and input."""
        out = self._make(number, self.cost.ports)
        into = self._make(number, self.cost.ports) if self.cost.duplex else out
        self.interfaces.setdefault(number, []).append((out, into))
        return out, into

    def route(self, source: int, dest: int) -> tuple[Port, ...]:
        """Return the ports of a transfer between two processes, in the order in which it takes them."""
        return self.between(self.out[source], self.into[dest])

    def between(self, out: Port, into: Port) -> tuple[Port, ...]:
        """Return the ports of a transfer between two ports of processes, in the order in which it takes them."""
        source, dest = out.number, into.number
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
        own = (
            port for number in processes
            for pair in ((self.out[number], self.into[number]), *self.interfaces.get(number, ())) for port in pair
        )  # fmt: skip
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
        check(f"{type(self.cost).__name__}: link {name!r}", t_w=link.t_w, gap=link.gap, latency=link.latency)
        check(f"{type(self.cost).__name__}: link {name!r}", minimum=1, width=link.width)
        kind = LinkPort if self.cost.duplex else SharedLink
        port = self.links[name] = kind(self.clock, -1 - len(self.links), self.freed, link)
        return port

    def _make(self, number: int, width: int) -> Port:
        if not self.cost.duplex:
            return SharedPort(self.clock, number, self.freed, width)
        if width == 1:
            return Port(self.clock, number, self.freed)
        return WidePort(self.clock, number, self.freed, width)
