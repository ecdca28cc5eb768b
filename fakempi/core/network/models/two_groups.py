"""Two groups of processes, with few or unequal links between them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass, field

from fakempi.core.network.cost import Link
from fakempi.core.network.models.builtin import Count
from fakempi.core.network.models.hockney import Hockney
from fakempi.core.network.models.linked import Linked
from fakempi.core.network.parameters import Time, check


@dataclass(eq=False, repr=False)
class TwoGroups(Linked):
    """Two groups that are connected by few or unequal links: the first processes are one group, all others the second.

    Within a group a transfer takes t_s + n t_w and uses only the processes' ports. Each number in `link_t_w` stands for a
    pair of links between the groups, one per direction, and is their t_w. With k numbers, process i of a group sends to the
    other group over link i mod k. This takes t_s + t_hop + n max(t_w, t_w of the link), and holds the link for gap + n times
    the t_w of the link.

    Parameters
    ----------
    first
        The number of processes in the first group.
    link_t_w
        Seconds per byte of each link between the groups; the number of links is the number of values.
    t_s, t_hop, t_w, gap
        Seconds to start a transfer, per link of its path, and per byte; additional seconds for which it holds each link.
    eager_limit, ports, compute_per_byte, files
        See `CostModel`.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.TwoGroups(4, t_s=1, t_w=0)).time
    3.0
    """

    first: Count
    link_t_w: Sequence[Time] = (1e-9,)
    _: KW_ONLY
    t_s: Time = 1e-6
    t_hop: Time = 0
    intra: Hockney = field(init=False)

    def __post_init__(self) -> None:
        self.link_t_w = (self.link_t_w,) if isinstance(self.link_t_w, int | float) else tuple(self.link_t_w)
        self.intra = Hockney(self.t_s, self.t_w)
        super().__post_init__()
        self.places = None

    def validate(self) -> None:
        """Raise an error if a group is empty, or no link connects the two."""
        super().validate()
        check("TwoGroups, number of links", minimum=1, k=len(self.link_t_w))
        for number, t_w in enumerate(self.link_t_w):
            check(f"TwoGroups, link {number}", t_w=t_w)

    def count_nodes(self) -> int:
        """Return the number of nodes of the first group, and one more: the second group has any number."""
        return self.first + 1

    def location(self, process: int) -> dict[str, Hashable]:
        """Return the group of a process, and its node, which has no other process."""
        return {"group": int(process >= self.first), "node": process}

    def path(self, source_node: int, dest_node: int) -> Sequence[Hashable]:
        """Return (group of the sender, number of the link) as the name of the only link; no link within a group."""
        if (source_node < self.first) == (dest_node < self.first):
            return ()
        k = len(self.link_t_w)
        return ((0, source_node % k),) if source_node < self.first else ((1, (source_node - self.first) % k),)

    def path_t_w(self, source_node: int, dest_node: int) -> Time:
        """Return the larger t_w: that of the processes' ports or that of the link."""
        return max([self.t_w, *(self.link(name).t_w for name in self.path(source_node, dest_node))])

    def link(self, name: Hashable) -> Link:
        """Return the properties of a link."""
        assert isinstance(name, tuple)
        return Link(self.link_t_w[name[1]], 1, self.gap, self.t_hop)
