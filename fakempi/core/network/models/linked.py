"""Base class of network topologies: nodes that are connected by links, which messages share."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from fakempi.core.network.models.builtin import BuiltinModel
from fakempi.core.network.models.hockney import Hockney, within_node
from fakempi.core.network.parameters import Time
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG


@dataclass(eq=False, repr=False, kw_only=True)
class Linked(BuiltinModel):
    """Base class of topologies. A subclass defines the links between two nodes (`path`) and, if they differ, each `link`.

    Processes fill the nodes in order, `ranks_per_node` each. `intra` is the cost model within a node. Between nodes,
    a transfer of n bytes over h links takes t_s + h t_hop + n t_w. The first byte needs t_hop for each link. When it reaches
    a link, the message takes the link for gap + n t_w; when it reaches the receiver, the message takes its port for
    t_s + n t_w. Each link and port serves the message that has waited longest. A message that waits holds no link, but it
    holds the sender's port until its last byte has left: for t_s + n t_w, and for the time for which it waits until then.
    """

    duplex: bool = field(default=True, init=False)
    t_s: Time = 2e-6
    t_hop: Time = 1e-7
    t_w: Time = 1e-9
    gap: Time = 0
    intra: Hockney = field(default_factory=within_node)

    ranks_per_node = 1  # a parameter of subclasses, after those of their shape

    def __post_init__(self) -> None:
        self.intra = self.intra or within_node()
        super().__post_init__()
        self.node_count = self.count_nodes()
        self.places = self.node_count * self.ranks_per_node
        self.in_order = type(self).transfer is Linked.transfer and self.intra.in_order

    def count_nodes(self) -> int:
        """Return the number of nodes."""
        raise NotImplementedError(f"{type(self).__name__} does not define its number of nodes: override count_nodes()")

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return self.node_count

    def path(self, source_node: int, dest_node: int) -> Sequence[Hashable]:
        """Return the names of the links from one node to another."""
        raise NotImplementedError(f"{type(self).__name__} does not define the links between two nodes: override path()")

    def hops(self, source_node: int, dest_node: int) -> int:
        """Return the number of links from one node to another."""
        return len(self.path(source_node, dest_node))

    def path_t_w(self, source_node: int, dest_node: int) -> Time:
        """Return the seconds per byte from one node to another: those of the slowest link."""
        return self.t_w

    def node(self, process: int) -> int:
        """Return the node of a process: processes fill the nodes in order."""
        if self.places is not None and process >= self.places:
            raise MPIValueError(
                ERR_ARG,
                f"{type(self).__name__}: the network has {self.places} places, {self.ranks_per_node} on each of "
                f"{self.node_count} nodes, and none for rank {process}.",
            )
        return process // self.ranks_per_node

    def route(self, source: int, dest: int) -> Sequence[Hashable]:
        """Return the links between the nodes of two processes."""
        source_node, dest_node = source // self.ranks_per_node, dest // self.ranks_per_node
        return () if source_node == dest_node else self.path(source_node, dest_node)

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """Return the time, which depends on the number of links and on the t_w of the slowest link."""
        source_node, dest_node = source // self.ranks_per_node, dest // self.ranks_per_node
        if source_node == dest_node:
            return self.intra.transfer(source, dest, nbytes)
        held = self.t_s + nbytes * self.path_t_w(source_node, dest_node)
        return held, held, held + self.hops(source_node, dest_node) * self.t_hop

    def latency(self, source: int, dest: int, nbytes: int) -> Time:
        """Return the time for which the first byte of a message is on its way: t_hop for each link."""
        source_node, dest_node = source // self.ranks_per_node, dest // self.ranks_per_node
        return 0 if source_node == dest_node else self.hops(source_node, dest_node) * self.t_hop
