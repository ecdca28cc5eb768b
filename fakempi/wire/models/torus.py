"""A torus of any number of dimensions: every node is joined to its neighbours, the last one of a row to the first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod

from fakempi.error_classes import ERR_ARG
from fakempi.errors import MPITypeError
from fakempi.wire.cost import Time, check
from fakempi.wire.models.hockney import Hockney
from fakempi.wire.models.linked import Linked


class Torus(Linked):
    """Nodes in a grid, numbered as `Create_cart` does (the last coordinate runs fastest), each joined to its neighbours.

    A 3-D torus is that of Blue Gene; a shape of one number is a ring.

    A message goes along the first dimension, then along the second, and so on, the shorter way round (up, if both are as
    long). Over h links it takes t_s + h t_hop + n t_w, and each link is held for gap + n t_w.

    Parameters
    ----------
    shape
        How many nodes along each dimension.
    ranks_per_node
        Processes fill the nodes in order, so many each.
    t_s, t_hop, t_w, gap
        Seconds to start a transfer, for each link on its way, for each byte; seconds that it holds a link beside its bytes.
    links
        How many in parallel from each node to each neighbour.
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
    >>> fakempi.run(lambda comm: comm.Barrier(), 8, cost=fakempi.Torus((2, 2, 2), t_s=1, t_hop=0, t_w=0)).time
    3
    """

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
        """Refuse a shape without nodes."""
        super().validate()
        for extent in self.shape:
            if not isinstance(extent, int):
                raise MPITypeError(ERR_ARG, f"Torus: shape={self.shape!r} has {extent!r}, which is not a whole number.")
            check(f"Torus: shape={self.shape!r}", minimum=1, extent=extent)

    def path(self, here: int, there: int) -> Sequence[Hashable]:
        """Links are named by the node from which they leave, the dimension, and the way along it."""
        names: list[Hashable] = []
        at, stride = here, self.nodes
        for dimension, extent in enumerate(self.shape):
            stride //= extent
            mine, theirs = at // stride % extent, there // stride % extent
            up = (theirs - mine) % extent
            way, steps = (1, up) if 2 * up <= extent else (-1, extent - up)
            for _ in range(steps):
                names.append((at, dimension, way))
                onward = (mine + way) % extent
                at += (onward - mine) * stride
                mine = onward
        return names

    def hops(self, here: int, there: int) -> int:
        """The distances along all dimensions."""
        total = 0
        for extent in reversed(self.shape):
            up = (there - here) % extent
            total += min(up, extent - up)
            here, there = here // extent, there // extent
        return total

    def __repr__(self) -> str:
        return (
            f"Torus({self.shape}, {self.ranks_per_node}, t_s={self.t_s!r}, t_hop={self.t_hop!r}, t_w={self.t_w!r}, "
            f"gap={self.gap!r}, links={self.width})"
        )
