"""A torus of any number of dimensions: every node is connected to its neighbors, and the last of a row to the first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod
from typing import ClassVar

from fakempi.core.network.cost import Time, check
from fakempi.core.network.models.hockney import Hockney
from fakempi.core.network.models.linked import Linked
from fakempi.errors import MPITypeError
from fakempi.errors.classes import ERR_ARG


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
    eager_limit
        A message of at most this number of bytes does not wait for its receive. With 0, every message waits.
    ports
        The number of messages that a process can send at a time, and the number that it can receive at a time.
    compute_per_byte
        Modeled seconds to combine one byte in a reduction.

    Examples
    --------
    >>> import fakempi
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.Torus((2, 2, 2), t_s=1, t_hop=0, t_w=0)).time
    3
    """

    stored_as: ClassVar[dict[str, str]] = {"links": "width"}

    def __init__(
        self,
        shape: int | Sequence[int] = (4, 4, 4),
        ranks_per_node: int = 1,
        *,
        t_s: Time = 2e-6,
        t_hop: Time = 1e-7,
        t_w: Time = 1e-9,
        gap: Time = 0,
        links: int = 1,
        intra: Hockney | None = None,
        eager_limit: int = 65536,
        ports: int = 1,
        compute_per_byte: Time = 0,
    ) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        super().__init__(
            prod(self.shape), ranks_per_node, t_s=t_s, t_hop=t_hop, t_w=t_w, gap=gap, width=links, intra=intra,
            eager_limit=eager_limit, ports=ports, compute_per_byte=compute_per_byte,
        )  # fmt: skip

    def validate(self) -> None:
        """Raise an error if the shape has no nodes."""
        super().validate()
        for extent in self.shape:
            if not isinstance(extent, int):
                raise MPITypeError(ERR_ARG, f"Torus: shape={self.shape!r} has {extent!r}, which is not an integer.")
            check(f"Torus: shape={self.shape!r}", minimum=1, extent=extent)

    def path(self, source_node: int, dest_node: int) -> Sequence[Hashable]:
        """Return names of links: the node that they lead away from, the dimension, and the direction."""
        names: list[Hashable] = []
        node, stride = source_node, self.nodes
        for dimension, extent in enumerate(self.shape):
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

    def hops(self, source_node: int, dest_node: int) -> int:
        """Return the sum of the distances along all dimensions."""
        total, source, dest = 0, source_node, dest_node
        for extent in reversed(self.shape):
            up = (dest - source) % extent
            total += min(up, extent - up)
            source, dest = source // extent, dest // extent
        return total
