"""Messages between nodes, and the links that they take, for `link_simulation`."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

from fakempi.core.network.cost import CostModel
from fakempi.core.network.models.linked import Linked
from fakempi.core.network.models.two_level import TwoLevel
from fakempi.extensions.fused.array_clocks import Undetermined


class Route(NamedTuple):
    """The way of a message between two nodes."""

    links: list[int]  # their numbers
    heads: list[Any] | None  # when the first byte reaches each of them, and the receiver's port; None: there is no latency
    hold: Any
    sent: Any
    arrived: Any


class Message:
    """A message on its way; the times of its route are relative to `start`."""

    route: Route  # set when it is ready

    __slots__ = ("dest", "has_left", "has_started", "is_matched", "nbytes", "route", "sender", "serial", "stage", "start")

    def __init__(self, sender: int, dest: int, nbytes: int, serial: int) -> None:
        self.sender, self.dest, self.nbytes, self.serial = sender, dest, nbytes, serial
        self.is_matched = self.has_left = self.has_started = False
        self.stage = 0  # the number of links that it has taken
        self.start: Any = 0


class Routes:
    """Links, numbered in the order of their first use, and the routes between nodes."""

    def __init__(self, cost: CostModel, p: int) -> None:
        if not isinstance(cost, (TwoLevel, Linked)) or not (cost.duplex and cost.ports == 1 and cost.in_order):
            raise Undetermined("times depend on more than the links between two nodes")
        self.cost = cost
        numbers: dict[Any, int] = {}
        self.node = [numbers.setdefault(cost.node(rank), len(numbers)) for rank in range(p)]
        self.numbers: dict[Any, int] = {}  # of links, by name
        self.gap: list[Any] = []  # by link
        self.t_w: list[Any] = []
        self.latency: list[Any] = []
        self.found: dict[tuple[int, int, int], Route] = {}

    def find(self, source: int, dest: int, nbytes: int) -> Route:
        """Return the way of a message, which depends on the nodes of its ranks."""
        names = self.cost.route(source, dest)
        if names is None:
            raise Undetermined("network ports are held as long as those of ranks")
        for name in names:
            if name not in self.numbers:
                link = self.cost.link(name)
                if link.width != 1:
                    raise Undetermined("a link transfers several messages at a time")
                self.numbers[name] = len(self.numbers)
                self.gap.append(link.gap)
                self.t_w.append(link.t_w)
                self.latency.append(link.latency)
        links = [self.numbers[name] for name in names]
        latency = self.cost.latency(source, dest, nbytes)
        heads = [min(at, latency) for at in accumulate((self.latency[link] for link in links[:-1]), initial=0)]
        times = self.cost.transfer(source, dest, nbytes)
        found = Route(links, [*heads[: len(links)], latency] if latency > 0 else None, *times)
        self.found[self.node[source], self.node[dest], nbytes] = found
        return found
