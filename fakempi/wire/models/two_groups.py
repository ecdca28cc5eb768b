"""Two groups of processes, well connected within and weakly between: few links, or unequal ones."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from fakempi.wire.cost import Link, Time, check
from fakempi.wire.models.hockney import Hockney
from fakempi.wire.models.linked import Linked


class TwoGroups(Linked):
    """Two groups, joined by few or unequal links: the first processes are one of them, all others the second.

    Within a group a transfer takes t_s + n t_w, and there is nothing to queue for but ports. Between the groups there are
    as many links as `bridges` has numbers, each way, and these are their t_w. The processes of a group take turns: the
    i-th of each sends by bridge i mod k, of k, in t_s + t_hop + n max(t_w, that of the bridge), and holds it for gap + n
    times its own t_w.

    Parameters
    ----------
    first
        How many processes the first group has.
    bridges
        The t_w of each link between the groups.
    t_s, t_hop, t_w, gap
        Seconds to start a transfer, for each link on its way, for each byte; seconds that it holds a link beside its bytes.
    eager_limit
        Messages of at most so many bytes travel without waiting for their receive; with 0 none does.
    ports
        How many transfers a process can take part in at a time, each way.
    compute_per_byte
        Modelled seconds to combine one byte in a reduction.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.TwoGroups(4, t_s=1, t_w=0)).time
    3.0
    """

    def __init__(
        self,
        first: int,
        bridges: Sequence[Time] = (1e-9,),
        *,
        t_s: Time = 1e-6,
        t_hop: Time = 0,
        t_w: Time = 1e-9,
        gap: Time = 0,
        eager_limit: int = 65536,
        ports: int = 1,
        compute_per_byte: Time = 0,
    ) -> None:
        self.first, self.bridges = first, (bridges,) if isinstance(bridges, int | float) else tuple(bridges)
        super().__init__(
            first + 1, 1, t_s=t_s, t_hop=t_hop, t_w=t_w, gap=gap, width=1, intra=Hockney(t_s, t_w),
            eager_limit=eager_limit, ports=ports, compute_per_byte=compute_per_byte,
        )  # fmt: skip
        self.places = None

    def validate(self) -> None:
        """Refuse groups that nothing joins."""
        super().validate()
        check("TwoGroups", minimum=1, first=self.first)
        check("TwoGroups, number of bridges", minimum=1, k=len(self.bridges))
        for number, t_w in enumerate(self.bridges):
            check(f"TwoGroups, bridge {number}", t_w=t_w)

    def path(self, here: int, there: int) -> Sequence[Hashable]:
        """A bridge, named by the group from which it leads and its number; nothing within a group."""
        if (here < self.first) == (there < self.first):
            return ()
        k = len(self.bridges)
        return ((0, here % k),) if here < self.first else ((1, (here - self.first) % k),)

    def pace(self, here: int, there: int) -> Time:
        """The slower of a process's link and the bridge."""
        return max([self.t_w, *(self.link(name).t_w for name in self.path(here, there))])

    def link(self, name: Hashable) -> Link:
        """One bridge, one way."""
        assert isinstance(name, tuple)
        return Link(self.bridges[name[1]], 1, self.gap)

    def __repr__(self) -> str:
        return (
            f"TwoGroups({self.first}, {self.bridges}, t_s={self.t_s!r}, t_hop={self.t_hop!r}, t_w={self.t_w!r}, "
            f"gap={self.gap!r})"
        )
