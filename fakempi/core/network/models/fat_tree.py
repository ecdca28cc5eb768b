"""A fat tree: levels of switches, with more links towards the root.

C. E. Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE Trans. Computers C-34(10), 1985,
doi 10.1109/TC.1985.6312192.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from math import prod

from fakempi.core.network.cost import Link
from fakempi.core.network.models.builtin import Count
from fakempi.core.network.models.linked import Linked
from fakempi.core.network.parameters import check
from fakempi.errors import MPIValueError
from fakempi.errors.classes import ERR_ARG


@dataclass(eq=False, repr=False)
class FatTree(Linked):
    """A switch of the lowest level has `children[0]` nodes, one of the next level `children[1]` such switches, and so on.

    From each child of level i, `links[i]` links lead up, and the same number down: links[0] of a node, links[1] of a switch.
    With links[i+1] = children[i] * links[i] every level has the same bandwidth (a full fat tree); with less it is tapered.
    A message goes up to the lowest common switch of both nodes, and down. It takes the first of several links that is free,
    or, with `static=True`, always the link with its destination's number (modulo their number), as switches with fixed
    routing tables do.

    Over h links a message takes t_s + h t_hop + n t_w, and each link is held for gap + n t_w.

    Parameters
    ----------
    children
        The number of nodes or switches below each switch, from the lowest level up.
    ranks_per_node
        The number of processes per node; they fill the nodes in order.
    links
        The number of links that lead up from each child, by level. The default is a full fat tree.
    static
        Whether the destination determines the link.
    t_s, t_hop, t_w, gap
        Seconds to start a transfer, per link of its path, and per byte; additional seconds for which it holds each link.
    intra
        The cost model of transfers within a node.
    eager_limit, ports, compute_per_byte, files
        See `CostModel`.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.FatTree((4, 2), t_s=1, t_hop=0, t_w=0)).time
    3
    """

    children: int | Sequence[int] = (8, 8)
    ranks_per_node: Count = 1
    _: KW_ONLY
    links: int | Sequence[int] | None = None
    static: bool = False

    def __post_init__(self) -> None:
        self.children = self._children = (self.children,) if isinstance(self.children, int) else tuple(self.children)
        if self.links is None:
            self.links = tuple(prod(self._children[:level]) for level in range(len(self._children)))
        self.links = self._links = (self.links,) if isinstance(self.links, int) else tuple(self.links)
        super().__post_init__()

    def validate(self) -> None:
        """Raise an error if a level has no children or links."""
        super().validate()
        if len(self._links) != len(self._children):
            raise MPIValueError(
                ERR_ARG, f"FatTree: links={self.links!r} and children={self.children!r} must have the same number of "
                f"levels, not {len(self._links)} and {len(self._children)}."
            )  # fmt: skip
        for level, (children, links) in enumerate(zip(self._children, self._links, strict=True)):
            check(f"FatTree, level {level}", minimum=1, children=children, links=links)

    def count_nodes(self) -> int:
        """Return the product of the numbers of children."""
        return prod(self._children)

    def location(self, process: int) -> dict[str, Hashable]:
        """Return the switches of a process, from the highest below the root, and its node."""
        node = part = self.node(process)
        found: list[tuple[str, Hashable]] = [("node", node)]
        several = len(self._children) > 2
        for number, children in enumerate(self._children[:-1], 1):
            part //= children
            found.append((f"level-{number} switch" if several else "switch", part))
        return dict(reversed(found))

    def path(self, source_node: int, dest_node: int) -> Sequence[Hashable]:
        """Return names of links: the level, the child that they connect to its switch, and the direction."""
        up: list[Hashable] = []
        down: list[Hashable] = []
        source, dest = source_node, dest_node  # the nodes, then the switches above them, level by level
        for level, children in enumerate(self._children):
            if source == dest:
                break
            link_number = (dest_node % self._links[level],) if self.static else ()
            up.append((level, source, "up", *link_number))
            down.append((level, dest, "down", *link_number))
            source, dest = source // children, dest // children
        return up + down[::-1]

    def hops(self, source_node: int, dest_node: int) -> int:
        """Return the number of links: up and down, for each level of the path."""
        levels, source, dest = 0, source_node, dest_node
        while source != dest:
            source, dest = source // self._children[levels], dest // self._children[levels]
            levels += 1
        return 2 * levels

    def link(self, name: Hashable) -> Link:
        """Return one link of a level, or all of them as one wide link."""
        assert isinstance(name, tuple)
        return Link(self.t_w, 1 if self.static else self._links[name[0]], self.gap, self.t_hop)
