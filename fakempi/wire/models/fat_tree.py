"""A fat tree: switches above switches, with more links the nearer the root.

C. E. Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE Trans. Computers C-34(10), 1985,
doi 10.1109/TC.1985.6312192.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPIValueError
from fakempi.wire.cost import Link, Time, check
from fakempi.wire.models.hockney import Hockney
from fakempi.wire.models.linked import Linked


class FatTree(Linked):
    """A switch has `children[0]` nodes, one of the next level `children[1]` such switches, and so on.

    `links[i]` links go up from each child of level i, and as many down: links[0] from a node, links[1] from its switch.
    With links[i+1] = children[i] * links[i] nothing is lost towards the root (a full fat tree); with less it is thinned out.
    A message goes up to the lowest switch above both nodes, and down. Of several links it takes the first that is free, or,
    with `static=True`, always that of its destination's number, as switches with fixed tables do.

    Over h links a message takes t_s + h t_hop + n t_w, and each link is held for gap + n t_w.

    Parameters
    ----------
    children
        How many nodes or switches each switch has below it, from the lowest level up.
    ranks_per_node
        Processes fill the nodes in order, so many each.
    links
        How many go up from each child, by level; a full fat tree unless given.
    static
        Whether the link is always that of the destination's number.
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
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.FatTree((4, 2), t_s=1, t_hop=0, t_w=0)).time
    3
    """

    def __init__(
        self,
        children: int | Sequence[int] = (8, 8),
        ranks_per_node: int = 1,
        *,
        links: int | Sequence[int] | None = None,
        static: bool = False,
        t_s: Time = 2e-6,
        t_hop: Time = 1e-7,
        t_w: Time = 1e-9,
        gap: Time = 0,
        intra: Hockney | None = None,
        eager_limit: int = 65536,
        ports: int = 1,
        compute_per_byte: Time = 0,
    ) -> None:
        self.children = (children,) if isinstance(children, int) else tuple(children)
        full = tuple(prod(self.children[:level]) for level in range(len(self.children)))
        self.links = full if links is None else (links,) if isinstance(links, int) else tuple(links)
        self.static = static
        super().__init__(
            prod(self.children), ranks_per_node, t_s=t_s, t_hop=t_hop, t_w=t_w, gap=gap, width=1, intra=intra,
            eager_limit=eager_limit, ports=ports, compute_per_byte=compute_per_byte,
        )  # fmt: skip

    def validate(self) -> None:
        """Refuse levels without children or links."""
        super().validate()
        if len(self.links) != len(self.children):
            raise MPIValueError(
                ERR_ARG, f"FatTree: links={self.links!r} are for {len(self.links)} levels, children={self.children!r} for "
                f"{len(self.children)}: there must be as many."
            )  # fmt: skip
        for level, (children, links) in enumerate(zip(self.children, self.links, strict=True)):
            check(f"FatTree, level {level}", minimum=1, children=children, links=links)

    def path(self, here: int, there: int) -> Sequence[Hashable]:
        """Links are named by the level and the child that they join to its switch, and the way."""
        up: list[Hashable] = []
        down: list[Hashable] = []
        dest = there
        for level, children in enumerate(self.children):
            if here == there:
                break
            which = (dest % self.links[level],) if self.static else ()
            up.append((level, here, "up", *which))
            down.append((level, there, "down", *which))
            here, there = here // children, there // children
        return up + down[::-1]

    def hops(self, here: int, there: int) -> int:
        """Up and down, for as many levels as it takes."""
        levels = 0
        while here != there:
            here, there = here // self.children[levels], there // self.children[levels]
            levels += 1
        return 2 * levels

    def link(self, name: Hashable) -> Link:
        """One of those of its level, or all of them."""
        assert isinstance(name, tuple)
        return Link(self.t_w, 1 if self.static else self.links[name[0]], self.gap)

    def __repr__(self) -> str:
        return (
            f"FatTree({self.children}, {self.ranks_per_node}, links={self.links}, static={self.static}, t_s={self.t_s!r}, "
            f"t_hop={self.t_hop!r}, t_w={self.t_w!r}, gap={self.gap!r})"
        )
