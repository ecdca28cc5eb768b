"""What networks of links have in common: nodes with some processes each, joined by links that messages meet on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError
from fakempi.wire.cost import CostModel, Link, Time, check
from fakempi.wire.models.hockney import Hockney


class Linked(CostModel):
    """Base of the networks: each says which links join two nodes (`path`) and, if they differ, what they are (`link`).

    Processes fill the nodes in order, `ranks_per_node` each. Within a node transfers cost what `intra` says. Between nodes
    one of n bytes over h links takes t_s + h t_hop + n t_w, for all of it both processes' ports, and each link of its way
    for gap + n t_w, from when the message gets it. Links are taken in the order of the way, first come, first served. A
    message that waits for one waits in the network, where there is room for all, and keeps no other link busy meanwhile.
    """

    def __init__(
        self,
        nodes: int,
        ranks_per_node: int,
        *,
        t_s: Time,
        t_hop: Time,
        t_w: Time,
        gap: Time,
        width: int,
        intra: Hockney | None,
        eager_limit: int,
        ports: int,
        compute_per_byte: Time,
    ) -> None:
        self.ranks_per_node = ranks_per_node
        self.t_s, self.t_hop, self.t_w, self.gap, self.width = t_s, t_hop, t_w, gap, width
        self.intra = intra or Hockney(t_s=5e-7, t_w=2e-10)
        self.eager_limit, self.ports, self.compute_per_byte = eager_limit, ports, compute_per_byte
        self.validate()
        self.nodes = nodes
        self.places = nodes * ranks_per_node
        self.in_order = type(self).transfer is Linked.transfer and self.intra.in_order

    def validate(self) -> None:
        """Refuse negative costs and empty nodes."""
        super().validate()
        name = type(self).__name__
        check(name, t_s=self.t_s, t_hop=self.t_hop, t_w=self.t_w, gap=self.gap)
        check(name, minimum=1, ranks_per_node=self.ranks_per_node, width=self.width)

    def path(self, here: int, there: int) -> Sequence[Hashable]:
        """The names of the links from one node to another."""
        raise NotImplementedError(f"{type(self).__name__} must say which links join two nodes: override path()")

    def hops(self, here: int, there: int) -> int:
        """How many links these are."""
        return len(self.path(here, there))

    def pace(self, here: int, there: int) -> Time:
        """Seconds a byte from one node to another: those of the slowest link."""
        return self.t_w

    def node(self, process: int) -> int:
        """Node after node."""
        if self.places is not None and process >= self.places:
            raise MPIValueError(
                ERR_ARG,
                f"{type(self).__name__}: there is room for {self.places} ranks, {self.ranks_per_node} on each of "
                f"{self.nodes} nodes, and none for rank {process}.",
            )
        return process // self.ranks_per_node

    def route(self, source: int, dest: int) -> Sequence[Hashable]:
        """The links between the two nodes."""
        here, there = source // self.ranks_per_node, dest // self.ranks_per_node
        return () if here == there else self.path(here, there)

    def link(self, name: Hashable) -> Link:
        """All links are alike."""
        return Link(self.t_w, self.width, self.gap)

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """By the number of links, and at the pace of the slowest."""
        here, there = source // self.ranks_per_node, dest // self.ranks_per_node
        if here == there:
            return self.intra.transfer(source, dest, nbytes)
        seconds = self.t_s + self.hops(here, there) * self.t_hop + nbytes * self.pace(here, there)
        return seconds, seconds, seconds
