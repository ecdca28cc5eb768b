"""Two groups of processes, with few or unequal links between them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from fakempi.core.network.cost import Link, Time, check
from fakempi.core.network.models.hockney import Hockney
from fakempi.core.network.models.linked import Linked


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
    eager_limit
        A message of at most this number of bytes does not wait for its receive. With 0, every message waits.
    ports
        The number of messages that a process can send at a time, and the number that it can receive at a time.
    compute_per_byte
        Modeled seconds to combine one byte in a reduction.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.TwoGroups(4, t_s=1, t_w=0)).time
    3.0
    """

    def __init__(
        self,
        first: int,
        link_t_w: Sequence[Time] = (1e-9,),
        *,
        t_s: Time = 1e-6,
        t_hop: Time = 0,
        t_w: Time = 1e-9,
        gap: Time = 0,
        eager_limit: int = 65536,
        ports: int = 1,
        compute_per_byte: Time = 0,
    ) -> None:
        self.first, self.link_t_w = first, (link_t_w,) if isinstance(link_t_w, int | float) else tuple(link_t_w)
        super().__init__(
            first + 1, 1, t_s=t_s, t_hop=t_hop, t_w=t_w, gap=gap, width=1, intra=Hockney(t_s, t_w),
            eager_limit=eager_limit, ports=ports, compute_per_byte=compute_per_byte,
        )  # fmt: skip
        self.places = None

    def validate(self) -> None:
        """Raise an error if a group is empty, or no link connects the two."""
        super().validate()
        check("TwoGroups", minimum=1, first=self.first)
        check("TwoGroups, number of links", minimum=1, k=len(self.link_t_w))
        for number, t_w in enumerate(self.link_t_w):
            check(f"TwoGroups, link {number}", t_w=t_w)

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
