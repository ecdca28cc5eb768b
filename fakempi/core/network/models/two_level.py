"""A cluster of multi-core nodes: fast transfers within a node, slow ones between nodes, through a shared network port.

The 32 processes of a node queue for its network port, one queue per direction, so algorithms for flat machines are slow on
clusters. By default a message holds the port only for its bytes. If it also holds the port during the start-up time
(`network_gap=None`), a node starts one message after the other, unlike real network adapters.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from fakempi.core.network.cost import CostModel, Link, Time, check
from fakempi.core.network.models.hockney import Hockney
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG


class TwoLevel(CostModel):
    """Two Hockney models, `intra` and `inter`, and the node of each process.

    A transfer of n bytes between two nodes takes inter.t_s + n inter.t_w, and holds the ports of both processes for that
    time. It holds a network port of each node for

        g + n inter.t_w            with network_gap=g, from the time at which it gets the port; the default is g = 0
        inter.t_s + n inter.t_w    with network_gap=None, like the processes' ports, and while it waits for the next port

    Parameters
    ----------
    ranks_per_node
        The number of processes per node; they fill the nodes in order.
    placement
        Instead of `ranks_per_node`: the node of each process; any hashable names.
    intra, inter
        The cost models within a node and between nodes. Their `eager_limit`, `duplex` and `ports` are ignored.
    network_ports
        How many transfers a node can send, and receive, at a time.
    network_gap
        Additional seconds for which a transfer holds a network port; None: also during the start-up time.
    eager_limit
        A message of at most this number of bytes does not wait for its receive. With 0, every message waits.
    duplex
        Whether a process can send and receive at the same time.
    ports
        The number of messages that a process can send at a time, and the number that it can receive at a time.
    compute_per_byte
        Modeled seconds to combine one byte in a reduction.

    Examples
    --------
    >>> import fakempi
    >>> cost = fakempi.TwoLevel(2, intra=fakempi.Hockney(1, 0), inter=fakempi.Hockney(10, 0))
    >>> fakempi.run(lambda comm: comm.Barrier(), 4, cost=cost).time
    20
    """

    def __init__(
        self,
        ranks_per_node: int = 1,
        *,
        placement: Sequence[int | str] | None = None,
        intra: Hockney | None = None,
        inter: Hockney | None = None,
        network_ports: int = 1,
        network_gap: Time | None = 0,
        eager_limit: int = 65536,
        duplex: bool = True,
        ports: int = 1,
        compute_per_byte: Time = 0,
    ) -> None:
        self.ranks_per_node = ranks_per_node
        self.placement = None if placement is None else tuple(placement)
        self.places = None if self.placement is None else len(self.placement)
        self.intra = intra or Hockney(t_s=5e-7, t_w=2e-10)
        self.inter = inter or Hockney(t_s=2e-6, t_w=1e-9)
        self.network_ports, self.network_gap = network_ports, network_gap
        self.in_order = type(self) is TwoLevel and self.intra.in_order and self.inter.in_order  # none overrides transfer
        self.eager_limit, self.duplex, self.ports = eager_limit, duplex, ports
        self.compute_per_byte = compute_per_byte
        self.validate()

    def validate(self) -> None:
        """Raise an error if a node has no processes, or a cost is negative."""
        super().validate()
        check("TwoLevel", minimum=1, ranks_per_node=self.ranks_per_node)
        check("TwoLevel", network_gap=0 if self.network_gap is None else self.network_gap)

    def node(self, process: int) -> int | str:
        """Return the node of a process: by the placement, or in order."""
        if self.placement is None:
            return process // self.ranks_per_node
        if process >= len(self.placement):
            raise MPIValueError(
                ERR_ARG, f"TwoLevel: placement has nodes for {len(self.placement)} ranks, and none for rank {process}."
            )
        return self.placement[process]

    def node_name(self, process: int) -> str:
        """Return the name in the placement, or `node3`."""
        node = self.node(process)
        return node if isinstance(node, str) else f"node{node}"

    def route(self, source: int, dest: int) -> Sequence[Hashable] | None:
        """Return the network ports of the two nodes as links; None if they are held as long as the processes' ports."""
        if self.network_gap is None:
            return None
        source_node, dest_node = self.node(source), self.node(dest)
        if source_node == dest_node:
            return ()
        return ((source_node, "out"), (dest_node, "in")) if self.duplex else (source_node, dest_node)

    def link(self, name: Hashable) -> Link:
        """Return the network ports of a node, in one direction, or in both if half duplex."""
        assert self.network_gap is not None
        return Link(self.inter.t_w, self.network_ports, self.network_gap)

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """Return the times of the model for the level."""
        model = self.intra if self.node(source) == self.node(dest) else self.inter
        return model.transfer(source, dest, nbytes)
