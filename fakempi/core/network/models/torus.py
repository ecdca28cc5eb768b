"""A torus of any number of dimensions: every node is connected to its neighbors, and the last of a row to the first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass
from math import prod

from fakempi.core.network.cost import Link
from fakempi.core.network.models.builtin import Count
from fakempi.core.network.models.linked import Linked
from fakempi.core.network.parameters import check
from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_ARG


@dataclass(eq=False, repr=False)
class Torus(Linked):
    """Nodes in a grid, numbered as by `Create_cart` (the last coordinate varies fastest), each connected to its neighbors.

    Blue Gene has a 3-D torus; a shape of one number is a ring.

    A message goes along the first dimension, then along the second, and so on, in the shorter direction (upward if
    both are equal). Over h links it takes t_s + h t_hop + n t_w, and holds each link for gap + n t_w.

    Parameters
    ----------
    shape
        The number of nodes along each dimension.
    ranks_per_node
        The number of processes per node; they fill the nodes in order.
    t_s, t_hop, t_w, gap
        Seconds to start a transfer, per link of its path, and per byte; additional seconds for which it holds each link.
    links
        The number of parallel links from each node to each neighbor.
    intra
        The cost model of transfers within a node.
    eager_limit, ports, compute_per_byte, files
        See `CostModel`.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.Torus((2, 2, 2), t_s=1, t_hop=0, t_w=0)).time
    3
    """

    shape: int | Sequence[int] = (4, 4, 4)
    ranks_per_node: Count = 1
    _: KW_ONLY
    links: int = 1

    def __post_init__(self) -> None:
        self.shape = self._shape = (self.shape,) if isinstance(self.shape, int) else tuple(self.shape)
        super().__post_init__()

    def validate(self) -> None:
        """Raise an error if the shape has no nodes."""
        super().validate()
        check("Torus", minimum=1, width=self.links)
        for extent in self._shape:
            if not isinstance(extent, int):
                raise MPITypeError(ERR_ARG, f"Torus: shape={self.shape!r} has {extent!r}, which is not an integer.")
            check(f"Torus: shape={self.shape!r}", minimum=1, extent=extent)

    def count_nodes(self) -> int:
        """Return the product of the extents."""
        return prod(self._shape)

    def path(self, source_node: int, dest_node: int) -> Sequence[Hashable]:
        """Return names of links: the node that they lead away from, the dimension, and the direction."""
        names: list[Hashable] = []
        node, stride = source_node, self.node_count
        for dimension, extent in enumerate(self._shape):
            stride //= extent
            coordinate = node // stride % extent
            up = (dest_node // stride - coordinate) % extent
            direction, steps = (1, up) if 2 * up <= extent else (-1, extent - up)
            for _ in range(steps):
                names.append((node, dimension, direction))
                following = (coordinate + direction) % extent
                node += (following - coordinate) * stride
                coordinate = following
        return names

    def link(self, name: Hashable) -> Link:
        """Return all links from a node to a neighbor as one wide link; all neighbors have equal links."""
        return Link(self.t_w, self.links, self.gap, self.t_hop)

    def hops(self, source_node: int, dest_node: int) -> int:
        """Return the sum of the distances along all dimensions."""
        total, source, dest = 0, source_node, dest_node
        for extent in reversed(self._shape):
            up = (dest - source) % extent
            total += min(up, extent - up)
            source, dest = source // extent, dest // extent
        return total
