"""Ports: what a transfer has to hold for as long as it takes, first come, first served.

A process has an out-port and an in-port, or one for both (half duplex), or several of each; a node of a cluster has
network ports that its processes share. A transfer takes the ports of its route one after the other, out before in, and
keeps them all until it is over. The links of a route, which a cost model may name in place of network ports, are not kept:
a message has each for its bytes from the moment at which it gets it, and goes on to the next at once (virtual cut-through).
If that is busy, it waits in the network. Were links kept, a ring of messages of two links each would go one after the other.

So transfers never wait for one another in a circle. Who has a link will be through at a time that is known, whatever it
waits for then; and all take ports in one order (out, network out, network in, in), so who has the last waits for none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush, heapreplace
from itertools import chain
from typing import Any, Protocol

from fakempi.wire.cost import CostModel, Link, Time, check
from fakempi.wire.envelope import Envelope

FOREVER = float("inf")


class Clock(Protocol):
    """What ports and deliveries need of time."""

    now: Time

    def book(self, at: Time, action: Callable[[], None]) -> None:
        """Have an action called at a time."""


class Port:
    """Serves one transfer at a time. `free_at` is known once the transfer that holds it travels."""

    __slots__ = (
        "bytes_received", "bytes_sent", "clock", "free_at", "latest", "number", "onward", "queue", "received", "sent",
    )  # fmt: skip

    def __init__(self, clock: Clock, number: int, onward: Callable[[Envelope], None]) -> None:
        self.clock = clock
        self.number = number  # of the process, or of the node, counted down from -1
        self.onward = onward
        self.free_at: Time = 0
        self.latest: Time = 0  # when what came last is there, if that is not when the port is free
        self.queue: deque[Envelope] | None = None
        self.sent = self.received = 0
        self.bytes_sent = self.bytes_received = 0

    def take(self, envelope: Envelope) -> bool:
        """Give the port to an envelope, or put it in the queue."""
        if self.free_at <= self.clock.now and not self.queue:
            self.free_at = FOREVER
            return True
        if self.queue is None:
            self.queue = deque()
        if not self.queue and self.free_at < FOREVER:
            self.clock.book(self.free_at, self._serve)
        self.queue.append(envelope)
        return False

    def hold(self, until: Time) -> None:
        """The transfer that has the port travels, and is over at the given time."""
        self.free_at = until
        if self.queue:
            self.clock.book(until, self._serve)

    def waiting(self) -> list[Envelope]:
        """The envelopes that wait for the port."""
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
        """Give one of the ports to an envelope, or put it in the queue."""
        if self.idle and not self.queue:
            self.idle -= 1
            return True
        if self.queue is None:
            self.queue = deque()
        self.queue.append(envelope)
        return False

    def hold(self, until: Time) -> None:
        """One transfer travels, and is over at the given time."""
        self.clock.book(until, self._serve)

    def _serve(self) -> None:
        if self.queue:
            self.onward(self.queue.popleft())
        else:
            self.idle += 1


class LinkPort(Port):
    """Serves so many transfers at a time, each for its bytes and a gap from when it comes.

    The end is known at the start, so that nothing is booked unless somebody waits.
    """

    __slots__ = ("busy", "gap", "t_w", "width")

    def __init__(self, clock: Clock, number: int, onward: Callable[[Envelope], None], link: Link) -> None:
        super().__init__(clock, number, onward)
        self.t_w, self.width, self.gap = link
        self.busy: list[Time] = []  # a heap: when each of those that were ever used at a time is free again

    def take(self, envelope: Envelope) -> bool:
        """Let an envelope pass, or put it in the queue."""
        now, busy = self.clock.now, self.busy
        if not self.queue:
            if busy and busy[0] <= now:
                heapreplace(busy, now + (self.gap + envelope.nbytes * self.t_w))
                return True
            if len(busy) < self.width:
                heappush(busy, now + (self.gap + envelope.nbytes * self.t_w))
                return True
            self.queue = deque()
            self.clock.book(busy[0], self._serve)
        assert self.queue is not None
        self.queue.append(envelope)
        return False

    def hold(self, until: Time) -> None:
        """Nothing: the link is held since it was taken."""

    def _serve(self) -> None:
        assert self.queue
        envelope = self.queue.popleft()
        heapreplace(self.busy, self.clock.now + (self.gap + envelope.nbytes * self.t_w))
        if self.queue:
            self.clock.book(self.busy[0], self._serve)
        self.onward(envelope)


class SharedPort(Port):
    """One port for both directions (half duplex), or several such.

    Here a sender that held its port while it waits for the receiver's could wait for ever: two processes that send to
    each other would each hold what the other needs. So an envelope claims its ports one after the other without holding
    them, and starts when it is first at all of them and all are free. Claims go by turn, the order in which envelopes
    became ready, everywhere, so the one whose turn is first of all can always start sooner or later.
    """

    __slots__ = ("claims", "idle")

    def __init__(self, clock: Clock, number: int, onward: Callable[[Envelope], None], width: int) -> None:
        super().__init__(clock, number, onward)
        self.idle = width
        self.claims: list[tuple[int, Envelope]] = []

    def take(self, envelope: Envelope) -> bool:
        """Enter a claim."""
        heappush(self.claims, (envelope.number, envelope))
        return self.admits(envelope)

    def admits(self, envelope: Envelope) -> bool:
        """Whether an envelope with a claim could start, as far as this port is concerned."""
        return self.idle > 0 and self.claims[0][1] is envelope

    def hold(self, until: Time) -> None:
        """The envelope with the first claim travels, and is there at the given time."""
        heappop(self.claims)
        self.idle -= 1
        self.clock.book(until, self._serve)
        if self.idle and self.claims:
            self.clock.book(self.clock.now, self._look)

    def waiting(self) -> list[Envelope]:
        """The envelopes that have a claim."""
        return [envelope for _, envelope in self.claims]

    def _serve(self) -> None:
        self.idle += 1
        self._look()

    def _look(self) -> None:
        if self.idle and self.claims:
            self.onward(self.claims[0][1])


class SharedLink(SharedPort):
    """A link where processes are half duplex: claimed like their ports, and free after its bytes and a gap."""

    __slots__ = ("gap", "t_w")

    def __init__(self, clock: Clock, number: int, onward: Callable[[Envelope], None], link: Link) -> None:
        super().__init__(clock, number, onward, link.width)
        self.t_w, self.gap = link.t_w, link.gap

    def hold(self, until: Time) -> None:
        """The envelope with the first claim travels; the link is free when its bytes are through."""
        super().hold(self.clock.now + (self.gap + self.claims[0][1].nbytes * self.t_w))


class Ports:
    """The ports of all processes, nodes and links, made when first used."""

    def __init__(self, clock: Clock, cost: CostModel, onward: Callable[[Envelope], None]) -> None:
        self.clock, self.cost, self.onward = clock, cost, onward
        self.node, self.links_of, self.link_of = cost.node, cost.route, cost.link
        self.out: list[Port] = []
        self.into: list[Port] = []
        self.nodes: dict[Any, tuple[Port, Port]] = {}
        self.links: dict[Any, Port] = {}
        self.named = type(cost).route is not CostModel.route

    def add_process(self) -> int:
        """A new process with its ports; returns its number."""
        number = len(self.out)
        out = self._make(number, self.cost.ports)
        self.out.append(out)
        self.into.append(self._make(number, self.cost.ports) if self.cost.duplex else out)
        return number

    def route(self, source: int, dest: int) -> tuple[Port, ...]:
        """The ports of a transfer in the order in which it takes them."""
        out, into = self.out[source], self.into[dest]
        names = self.links_of(source, dest) if self.named else None
        if names is not None:
            links = self.links
            ports = (out, *[links[name] if name in links else self._link(name) for name in names], into)
        else:
            here, there = self.node(source), self.node(dest)
            ports = (out, into) if here == there else (out, self._node(here)[0], self._node(there)[1], into)
        return ports if self.cost.duplex else tuple(dict.fromkeys(ports))

    def waiting(self, processes: Iterable[int]) -> Iterator[Envelope]:
        """All envelopes that wait for a port of one of these processes, of a node, or for a link."""
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
