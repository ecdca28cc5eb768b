"""A dragonfly: groups of routers that are all joined to one another, and few links from each group to each other one.

J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008,
doi 10.1109/ISCA.2008.19.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from fakempi.wire.cost import Link, Time, check
from fakempi.wire.models.hockney import Hockney
from fakempi.wire.models.linked import Linked


class Dragonfly(Linked):
    """So many `groups` of `routers` with `nodes` each; every node has a link to its router, each way.

    Within a group every router is joined to every other one by `local_links` links; between two groups there are
    `global_links`, which begin and end at one router of each: for group h, seen from g, at router h mod routers of g.
    Messages take the shortest way: to the router with the link, over it, and to the destination's router. There is no
    detour by a third group, so traffic between two groups has their global links alone.

    Over h links a message takes t_s + h t_hop + n t_w, and each link is held for gap + n t_w.

    Parameters
    ----------
    groups, routers, nodes
        How many groups; routers in each; nodes at each router.
    ranks_per_node
        Processes fill the nodes in order, so many each.
    local_links, global_links
        How many join two routers of a group, and two groups.
    global_t_w
        The t_w of global links, if that differs; messages over one are no faster than it.
    t_s, t_hop, t_w, gap
        Seconds to start a transfer, for each link on its way, for each byte; seconds that it holds a link beside its bytes.
    intra
        What a transfer within a node takes.
    eager_limit
        Messages of at most so many bytes travel without waiting for their receive; with 0 none does.
    ports
        How many transfers a process can take part in at a time, each way.
    compute_per_byte
        Modelled seconds to combine one byte in a reduction.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.Dragonfly(2, 2, 2, t_s=1, t_hop=0, t_w=0)).time
    3
    """

    def __init__(
        self,
        groups: int = 4,
        routers: int = 4,
        nodes: int = 2,
        ranks_per_node: int = 1,
        *,
        local_links: int = 1,
        global_links: int = 1,
        global_t_w: Time | None = None,
        t_s: Time = 2e-6,
        t_hop: Time = 1e-7,
        t_w: Time = 1e-9,
        gap: Time = 0,
        intra: Hockney | None = None,
        eager_limit: int = 65536,
        ports: int = 1,
        compute_per_byte: Time = 0,
    ) -> None:
        self.groups, self.routers, self.nodes_per_router = groups, routers, nodes
        self.local_links, self.global_links = local_links, global_links
        self.global_t_w = t_w if global_t_w is None else global_t_w
        super().__init__(
            groups * routers * nodes, ranks_per_node, t_s=t_s, t_hop=t_hop, t_w=t_w, gap=gap, width=1, intra=intra,
            eager_limit=eager_limit, ports=ports, compute_per_byte=compute_per_byte,
        )  # fmt: skip

    def validate(self) -> None:
        """Refuse numbers of routers and links below one."""
        super().validate()
        check("Dragonfly", global_t_w=self.global_t_w)
        check("Dragonfly", minimum=1, groups=self.groups, routers=self.routers, nodes=self.nodes_per_router)
        check("Dragonfly", minimum=1, local_links=self.local_links, global_links=self.global_links)

    def path(self, here: int, there: int) -> Sequence[Hashable]:
        """Links are named by their kind and what they join: a node or two routers, or two groups."""
        first, last = here // self.nodes_per_router, there // self.nodes_per_router
        mine, theirs = first // self.routers, last // self.routers
        names: list[Hashable] = [("up", here)]
        if mine == theirs:
            if first != last:
                names.append(("local", first, last))
        else:
            leaves, enters = mine * self.routers + theirs % self.routers, theirs * self.routers + mine % self.routers
            if first != leaves:
                names.append(("local", first, leaves))
            names.append(("global", mine, theirs))
            if enters != last:
                names.append(("local", enters, last))
        names.append(("down", there))
        return names

    def pace(self, here: int, there: int) -> Time:
        """The slowest link's."""
        group = self.nodes_per_router * self.routers
        return self.t_w if here // group == there // group else max(self.t_w, self.global_t_w)

    def link(self, name: Hashable) -> Link:
        """By its kind."""
        assert isinstance(name, tuple)
        if name[0] == "global":
            return Link(self.global_t_w, self.global_links, self.gap)
        return Link(self.t_w, self.local_links if name[0] == "local" else 1, self.gap)

    def __repr__(self) -> str:
        return (
            f"Dragonfly({self.groups}, {self.routers}, {self.nodes_per_router}, {self.ranks_per_node}, "
            f"local_links={self.local_links}, global_links={self.global_links}, global_t_w={self.global_t_w!r}, "
            f"t_s={self.t_s!r}, t_hop={self.t_hop!r}, t_w={self.t_w!r}, gap={self.gap!r})"
        )
