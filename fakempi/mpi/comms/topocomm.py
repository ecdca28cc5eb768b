"""Communicators with a topology: grids, graphs and distributed graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from fakempi.errors import MPIError, MPITypeError
from fakempi.errors.classes import ERR_ARG, ERR_NOT_SAME, ERR_TOPOLOGY
from fakempi.mpi.base.constants import CART, DIST_GRAPH, GRAPH, UNDEFINED
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.mpi_errors import integer, mpi_error
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.mpi.comms.topology_makers import TopologyMakers
from fakempi.mpi.topologies.neighbors import NeighborCollectives
from fakempi.mpi.topologies.topology import integers

if TYPE_CHECKING:
    from typing_extensions import Self

_TOPOLOGIES = {CART: "CART", GRAPH: "GRAPH", DIST_GRAPH: "DIST_GRAPH", UNDEFINED: "UNDEFINED"}


class Topocomm(NeighborCollectives, Intracomm):
    """An intracommunicator in which every rank has neighbors."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    _topologies: ClassVar[tuple[int, ...]] = (CART, GRAPH, DIST_GRAPH)
    _described: ClassVar[str] = "topology"

    def __new__(cls, comm: Comm | None = None) -> Self:
        self = super().__new__(cls, comm)
        if self and (kind := self.Get_topology()) not in cls._topologies:
            sentence = f"expecting a {cls._described} communicator, but its topology is {_TOPOLOGIES[kind]}."
            raise mpi_error(ERR_TOPOLOGY, sentence, MPITypeError)
        return self

    def _topology(self) -> Any:
        """Return the record of the topology."""
        self._check_alive()
        return self._property("topology")

    @property
    def inedges(self) -> list[int]:
        """The ranks that a neighborhood collective receives from, in block order."""
        return list(self._topology().sources(self._rank))

    @property
    def outedges(self) -> list[int]:
        """The ranks that a neighborhood collective sends to, in block order."""
        return list(self._topology().destinations(self._rank))

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        """The results of `inedges` and `outedges`."""
        return self.inedges, self.outedges

    @property
    def indegree(self) -> int:
        """The number of incoming edges, including PROC_NULL."""
        return len(self.inedges)

    @property
    def outdegree(self) -> int:
        """The number of outgoing edges, including PROC_NULL."""
        return len(self.outedges)

    @property
    def degrees(self) -> tuple[int, int]:
        """The numbers of incoming and of outgoing edges."""
        return self.indegree, self.outdegree


class Cartcomm(Topocomm):
    """A communicator with a grid. Neighbors are one step behind and ahead in each dimension."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    _topologies = (CART,)
    _described = "Cartesian"

    def Get_dim(self) -> int:
        """Return the number of dimensions."""
        return len(self._topology().dims)

    def Get_topo(self) -> tuple[list[int], list[int], list[int]]:
        """Return the dimensions, their periods, and this rank's coordinates."""
        grid = self._topology()
        return list(grid.dims), list(grid.periods), grid.coords(self._rank)

    def Get_cart_rank(self, coords: Sequence[int]) -> int:
        """Return the rank at coordinates, which wrap around in dimensions with a period."""
        grid = self._topology()
        position = integers("coords", coords, len(grid.dims))
        for i, at in enumerate(position):
            if not grid.contains(i, at):
                sentence = f"coords[{i}] is {at}, not in 0..{grid.dims[i] - 1}, and dimension {i} has no period."
                self._raise(mpi_error(ERR_ARG, sentence))
        return int(grid.rank(position))

    def Get_coords(self, rank: int) -> list[int]:
        """Return the coordinates of a rank."""
        grid, number = self._topology(), integer("rank", rank, 0)
        self._check_rank(number, "rank")
        return list(grid.coords(number))

    def Shift(self, direction: int, disp: int) -> tuple[int, int]:
        """Return the ranks to receive from and to send to in a shift by `disp` steps along a dimension.

        Beyond the end of a dimension without a period, the rank is PROC_NULL.
        """
        grid, dimension, steps = self._topology(), integer("direction", direction), integer("disp", disp)
        if not 0 <= dimension < len(grid.dims):
            sentence = f"direction is {dimension}, but the grid has {len(grid.dims)} dimensions, counted from 0."
            self._raise(mpi_error(ERR_TOPOLOGY if dimension >= 0 and not grid.dims else ERR_ARG, sentence))
        behind, ahead = grid.shift(self._rank, dimension, steps)
        return behind, ahead

    def Sub(self, remain_dims: Sequence[bool]) -> Cartcomm:
        """Return the subgrid of the remaining dimensions that contains this rank."""
        grid = self._topology()
        remain = tuple(map(bool, integers("remain_dims", remain_dims, len(grid.dims))))
        contexts = self._rendezvous("Sub", remain, self._conclude_sub)
        part: Cartcomm = self._enter(CART, contexts[grid.slice_of(self._rank, remain)], grid.sub(remain))
        return part

    def _conclude_sub(self, values: dict[int, tuple[bool, ...]]) -> dict[tuple[int, ...], Context]:
        """Return a context for each subgrid, by the coordinates in the dimensions that do not remain."""
        first, old = values[0], self._local()
        for rank in range(1, len(values)):
            if values[rank] != first:
                mismatch = f"remain_dims is {list(first)} on rank 0 and {list(values[rank])} on rank {rank}"
                raise MPIError(ERR_NOT_SAME, f"Sub: {mismatch}, but all ranks must pass the same.")
        slices = self._topology().slices(first)
        return {coords: Context(old.context.universe, old.members.take(ranks)) for coords, ranks in slices.items()}

    @property
    def dim(self) -> int:
        """The number of dimensions."""
        return self.Get_dim()

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.Get_dim()

    @property
    def topo(self) -> tuple[list[int], list[int], list[int]]:
        """Dimensions, periods and this rank's coordinates."""
        return self.Get_topo()

    @property
    def dims(self) -> list[int]:
        """The extent of each dimension."""
        return list(self._topology().dims)

    @property
    def periods(self) -> list[int]:
        """Whether each dimension is periodic."""
        return list(self._topology().periods)

    @property
    def coords(self) -> list[int]:
        """This rank's coordinates."""
        return list(self._topology().coords(self._rank))


class Graphcomm(Topocomm):
    """A communicator whose ranks are the nodes of a graph that every rank knows."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    _topologies = (GRAPH,)
    _described = "general graph"

    def Get_dims(self) -> tuple[int, int]:
        """Return the numbers of nodes and edges."""
        graph = self._topology()
        return len(graph.index), len(graph.edges)

    def Get_topo(self) -> tuple[list[int], list[int]]:
        """Return the index and the edges, as in Create_graph (without a leading 0)."""
        graph = self._topology()
        return list(graph.index), list(graph.edges)

    def Get_neighbors_count(self, rank: int) -> int:
        """Return the number of neighbors of a rank."""
        return len(self.Get_neighbors(rank))

    def Get_neighbors(self, rank: int) -> list[int]:
        """Return the neighbors of a rank."""
        graph, number = self._topology(), integer("rank", rank, 0)
        self._check_rank(number, "rank")
        return list(graph.sources(number))

    @property
    def dims(self) -> tuple[int, int]:
        """The numbers of nodes and edges."""
        return self.Get_dims()

    @property
    def topo(self) -> tuple[list[int], list[int]]:
        """Index and edges."""
        return self.Get_topo()

    @property
    def nnodes(self) -> int:
        """The number of nodes."""
        return self.Get_dims()[0]

    @property
    def nedges(self) -> int:
        """The number of edges."""
        return self.Get_dims()[1]

    @property
    def index(self) -> list[int]:
        """For each node, the index in `edges` after its last edge."""
        return self.Get_topo()[0]

    @property
    def edges(self) -> list[int]:
        """The neighbors of all nodes, one after the other."""
        return self.Get_topo()[1]

    @property
    def neighbors(self) -> list[int]:
        """This rank's neighbors."""
        return self.Get_neighbors(self._rank)

    @property
    def nneighbors(self) -> int:
        """The number of neighbors of this rank."""
        return len(self.neighbors)


class Distgraphcomm(Topocomm):
    """A communicator with a graph of which every rank knows its own edges."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    _topologies = (DIST_GRAPH,)
    _described = "distributed graph"

    def Get_dist_neighbors_count(self) -> tuple[int, int, bool]:
        """Return the numbers of incoming and outgoing edges, and whether they have weights."""
        mine = self._topology()
        return len(mine.incoming), len(mine.outgoing), mine.weights is not None

    def Get_dist_neighbors(self) -> tuple[list[int], list[int], tuple[list[int], list[int]] | None]:
        """Return sources, destinations, and the weights of both; None instead of weights if there are none."""
        mine = self._topology()
        weights = None if mine.weights is None else (list(mine.weights[0]), list(mine.weights[1]))
        return list(mine.incoming), list(mine.outgoing), weights


TopologyMakers._topocomms.update({CART: Cartcomm, GRAPH: Graphcomm, DIST_GRAPH: Distgraphcomm})
