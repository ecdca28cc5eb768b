"""A cluster of multi-core nodes: cheap transfers within a node, dear ones between nodes, through a shared network port.

The 32 processes of a node queue for its one network port, each way, which is what makes algorithms for flat machines
slow on clusters. They queue with their bytes: a port that is held through the start-up too (`network_gap=None`) lets a node
start one message after the other, as no network adapter does.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError
from fakempi.wire.cost import CostModel, Link, Time, check
from fakempi.wire.models.hockney import Hockney


class TwoLevel(CostModel):
    """Two Hockney models, `intra` and `inter`, and where each process runs.

    A transfer of n bytes between two nodes takes inter.t_s + n inter.t_w, and for all of it both processes' ports. A network
    port of either node it has for

        g + n inter.t_w            with network_gap=g, from when it gets it, whatever it waits for then; the default is g = 0
        inter.t_s + n inter.t_w    with network_gap=None, as the processes' ports, and before that as it waits for the next

    Parameters
    ----------
    ranks_per_node
        Processes fill the nodes in order, so many each.
    placement
        Or they run where this says: the node of each process, any hashable names.
    intra, inter
        What a transfer within a node takes, and one between two. Their eager limits, duplex and ports do not count.
    network_ports
        How many transfers a node can send, and receive, at a time.
    network_gap
        Seconds that each of them holds such a port for, beside its bytes; None: for the start-up, too.
    eager_limit
        Messages of at most so many bytes travel without waiting for their receive; with 0 none does.
    duplex
        Whether a process can send and receive at the same time.
    ports
        How many transfers a process can take part in at a time, each way.
    compute_per_byte
        Modelled seconds to combine one byte in a reduction.

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
        """Refuse empty nodes."""
        super().validate()
        check("TwoLevel", minimum=1, ranks_per_node=self.ranks_per_node)
        check("TwoLevel", network_gap=0 if self.network_gap is None else self.network_gap)

    def node(self, process: int) -> int | str:
        """By placement, or node after node."""
        if self.placement is None:
            return process // self.ranks_per_node
        if process >= len(self.placement):
            raise MPIValueError(
                ERR_ARG, f"TwoLevel: placement names the nodes of {len(self.placement)} ranks, there is none for {process}."
            )
        return self.placement[process]

    def node_name(self, process: int) -> str:
        """A name given in the placement, or `node3`."""
        node = self.node(process)
        return node if isinstance(node, str) else f"node{node}"

    def route(self, source: int, dest: int) -> Sequence[Hashable] | None:
        """Out of one node and into another, unless network ports are held as long as processes' ports."""
        if self.network_gap is None:
            return None
        here, there = self.node(source), self.node(dest)
        if here == there:
            return ()
        return ((here, "out"), (there, "in")) if self.duplex else (here, there)

    def link(self, name: Hashable) -> Link:
        """The network ports of a node, one way, or both in half duplex."""
        assert self.network_gap is not None
        return Link(self.inter.t_w, self.network_ports, self.network_gap)

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Time, Time, Time]:
        """As the model of the level says."""
        model = self.intra if self.node(source) == self.node(dest) else self.inter
        return model.transfer(source, dest, nbytes)

    def __repr__(self) -> str:
        where = f"{self.ranks_per_node}" if self.placement is None else f"placement of {len(self.placement)} ranks"
        network = f"network_ports={self.network_ports}, network_gap={self.network_gap!r}"
        return f"TwoLevel({where}, intra={self.intra!r}, inter={self.inter!r}, {network})"
