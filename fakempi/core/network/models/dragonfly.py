"""The cost model of a dragonfly: groups of fully connected routers, and a few links between each pair of groups.

J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008,
doi 10.1109/ISCA.2008.19.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass

from fakempi.core.network.cost import Link
from fakempi.core.network.models.builtin import Count
from fakempi.core.network.models.linked import Linked
from fakempi.core.network.parameters import Time


@dataclass(eq=False, repr=False)
class Dragonfly(Linked):
    """A network of groups of routers, with several nodes at each router.

    * Each node has one link to its router and one from it.
    * Local links: `local_links` parallel links connect each pair of routers of a group.
    * Global links: `global_links` parallel links connect each pair of groups. In group g, all global links to group h are
      attached to the router with the number h mod `routers` in that group.

    Routing is minimal and static. A message to another group goes from the source's router to the router with the global
    links to that group, over a global link, and then to the router of the destination. No message passes through a third
    group, so traffic between two groups uses only the global links between these two.

    A message of n bytes over h links takes t_s + h t_hop + n t_w, with the t_w of the slowest link of its path. The
    message holds each link for gap + n t_w, with the t_w of that link.

    Parameters
    ----------
    groups, routers, nodes
        The number of groups, of routers per group, and of nodes per router.
    ranks_per_node
        The number of processes per node; they fill the nodes in order.
    local_links, global_links
        The number of parallel links between two routers of a group, and between two groups.
    global_t_w
        The t_w of global links; by default the t_w of the other links.
    t_s, t_hop, t_w, gap
        Seconds per transfer, per link of its path, and per byte; `gap` is how much longer a transfer holds each link.
    intra
        The cost model of transfers within a node.
    eager_limit, ports, compute_per_byte, files
        See `CostModel`.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.Dragonfly(2, 2, 2, t_s=1, t_hop=0, t_w=0)).time
    3
    """

    groups: Count = 4
    routers: Count = 4
    nodes: Count = 2
    ranks_per_node: Count = 1
    _: KW_ONLY
    local_links: Count = 1
    global_links: Count = 1
    global_t_w: Time | None = None

    def __post_init__(self) -> None:
        if self.global_t_w is None:
            self.global_t_w = self.t_w
        super().__post_init__()

    def count_nodes(self) -> int:
        """Return the number of nodes at all routers."""
        return self.groups * self.routers * self.nodes

    def location(self, process: int) -> dict[str, Hashable]:
        """Return the group, the router and the node of a process."""
        node = self.node(process)
        router = node // self.nodes
        return {"group": router // self.routers, "router": router, "node": node}

    def path(self, source_node: int, dest_node: int) -> Sequence[Hashable]:
        """Return the names of the links from one node to another.

        Names are ("up", node), ("local", router, router), ("global", group, group) and ("down", node).
        """
        source_router, dest_router = source_node // self.nodes, dest_node // self.nodes
        source_group, dest_group = source_router // self.routers, dest_router // self.routers
        names: list[Hashable] = [("up", source_node)]
        if source_group == dest_group:
            if source_router != dest_router:
                names.append(("local", source_router, dest_router))
        else:
            exit_router = source_group * self.routers + dest_group % self.routers
            entry_router = dest_group * self.routers + source_group % self.routers
            if source_router != exit_router:
                names.append(("local", source_router, exit_router))
            names.append(("global", source_group, dest_group))
            if entry_router != dest_router:
                names.append(("local", entry_router, dest_router))
        names.append(("down", dest_node))
        return names

    def path_t_w(self, source_node: int, dest_node: int) -> Time:
        """Return the t_w of the slowest link of the path."""
        assert self.global_t_w is not None
        group_size = self.nodes * self.routers
        return self.t_w if source_node // group_size == dest_node // group_size else max(self.t_w, self.global_t_w)

    def link(self, name: Hashable) -> Link:
        """Return the properties of the link with a name that `path` returned."""
        assert isinstance(name, tuple)
        assert self.global_t_w is not None
        if name[0] == "global":
            return Link(self.global_t_w, self.global_links, self.gap, self.t_hop)
        return Link(self.t_w, self.local_links if name[0] == "local" else 1, self.gap, self.t_hop)
