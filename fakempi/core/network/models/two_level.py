"""A cluster of multi-core nodes: fast transfers within a node, slow ones between nodes, through a shared network port.

The 32 processes of a node queue for its network port, one queue per direction, so algorithms for flat machines are slow on
clusters. By default a message holds the port only for its bytes. If it also holds the port during the start-up time
(`network_gap=None`), a node starts one message after the other, unlike real network adapters.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial

from fakempi.core.network.cost import Link
from fakempi.core.network.models.builtin import BuiltinModel, Count
from fakempi.core.network.models.hockney import Hockney, within_node
from fakempi.core.network.parameters import Time
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG


@dataclass(eq=False, repr=False)
class TwoLevel(BuiltinModel):
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
    eager_limit, duplex, ports, compute_per_byte, files
        See `CostModel`.

    Examples
    --------
    >>> import fakempi
    >>> cost = fakempi.TwoLevel(2, intra=fakempi.Hockney(1, 0), inter=fakempi.Hockney(10, 0))
    >>> fakempi.run(lambda comm: comm.Barrier(), 4, cost=cost).time
    20
    """

    ranks_per_node: Count = 1
    _: KW_ONLY
    placement: Sequence[int | str] | None = None
    intra: Hockney = field(default_factory=within_node)
    inter: Hockney = field(default_factory=partial(Hockney, t_s=2e-6, t_w=1e-9))
    network_ports: Count = 1
    network_gap: Time | None = 0

    def __post_init__(self) -> None:
        self.placement = None if self.placement is None else tuple(self.placement)
        self.places = None if self.placement is None else len(self.placement)
        self.intra = self.intra or within_node()
        self.inter = self.inter or Hockney(t_s=2e-6, t_w=1e-9)
        super().__post_init__()
        self.in_order = type(self) is TwoLevel and self.intra.in_order and self.inter.in_order  # none overrides transfer

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
