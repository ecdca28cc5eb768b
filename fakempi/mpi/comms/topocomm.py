"""Communicators with a topology: grids, graphs and distributed graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from fakempi.error_classes import ERR_ARG, ERR_NOT_SAME, ERR_TOPOLOGY
from fakempi.errors import MPIError, MPITypeError
from fakempi.mpi.base.complain import complaint, integer
from fakempi.mpi.base.constants import CART, DIST_GRAPH, GRAPH, UNDEFINED
from fakempi.mpi.base.context import Context
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.comms.intracomm import Intracomm
from fakempi.mpi.comms.topology_makers import TopologyMakers
from fakempi.mpi.topologies.neighbors import NeighborCollectives
from fakempi.mpi.topologies.topology import integers

_TOPOLOGIES = {CART: "CART", GRAPH: "GRAPH", DIST_GRAPH: "DIST_GRAPH", UNDEFINED: "UNDEFINED"}


class Topocomm(NeighborCollectives, Intracomm):
    """An intracommunicator in which every rank has neighbours."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    _topologies: ClassVar[tuple[int, ...]] = (CART, GRAPH, DIST_GRAPH)
    _described: ClassVar[str] = "topology"

    def __new__(cls, comm: Comm | None = None) -> Any:
        self = super().__new__(cls, comm)
        if self and (kind := self.Get_topology()) not in cls._topologies:
            words = f"expecting a {cls._described} communicator, but its topology is {_TOPOLOGIES[kind]}."
            raise complaint(ERR_TOPOLOGY, words, MPITypeError)
        return self

    def _shape(self) -> Any:
        """The record of the topology."""
        self._check_alive()
        return self._belonging("topology")

    @property
    def inedges(self) -> list[int]:
        """Whom a neighbourhood collective receives from, in the order of the blocks."""
        return list(self._shape().sources(self._rank))

    @property
    def outedges(self) -> list[int]:
        """Whom a neighbourhood collective sends to, in the order of the blocks."""
        return list(self._shape().destinations(self._rank))

    @property
    def inoutedges(self) -> tuple[list[int], list[int]]:
        """Both."""
        return self.inedges, self.outedges

    @property
    def indegree(self) -> int:
        """How many it receives from; neighbours that are PROC_NULL count."""
        return len(self.inedges)

    @property
    def outdegree(self) -> int:
        """How many it sends to; neighbours that are PROC_NULL count."""
        return len(self.outedges)

    @property
    def degrees(self) -> tuple[int, int]:
        """Both."""
        return self.indegree, self.outdegree


class Cartcomm(Topocomm):
    """A communicator whose ranks stand in a grid. The neighbours are those one step behind and ahead in each dimension."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    _topologies = (CART,)
    _described = "Cartesian"

    def Get_dim(self) -> int:
        """The number of dimensions."""
        return len(self._shape().dims)

    def Get_topo(self) -> tuple[list[int], list[int], list[int]]:
        """The dimensions, their periods, and where this rank stands."""
        grid = self._shape()
        return list(grid.dims), list(grid.periods), grid.coords(self._rank)

    def Get_cart_rank(self, coords: Sequence[int]) -> int:
        """Who stands there; coordinates in dimensions with a period may be any."""
        grid = self._shape()
        place = integers("coords", coords, len(grid.dims))
        for i, at in enumerate(place):
            if not grid.fits(i, at):
                words = f"coords[{i}] is {at}, not in 0..{grid.dims[i] - 1}, and dimension {i} has no period."
                self._raise(complaint(ERR_ARG, words))
        return int(grid.rank(place))

    def Get_coords(self, rank: int) -> list[int]:
        """Where a rank stands."""
        grid, number = self._shape(), integer("rank", rank)
        self._check_rank(number, "rank")
        return list(grid.coords(number))

    def Shift(self, direction: int, disp: int) -> tuple[int, int]:
        """Whom to receive from and whom to send to, for all to send `disp` steps along a dimension.

        Beyond the edge of a dimension without a period is PROC_NULL.
        """
        grid, dimension, steps = self._shape(), integer("direction", direction), integer("disp", disp)
        if not 0 <= dimension < len(grid.dims):
            words = f"direction is {dimension}, but the grid has {len(grid.dims)} dimensions, counted from 0."
            self._raise(complaint(ERR_TOPOLOGY if dimension >= 0 and not grid.dims else ERR_ARG, words))
        behind, ahead = grid.shift(self._rank, dimension, steps)
        return behind, ahead

    def Sub(self, remain_dims: Sequence[bool]) -> Cartcomm:
        """The part of the grid that this rank can reach along the dimensions that remain."""
        grid = self._shape()
        remain = tuple(map(bool, integers("remain_dims", remain_dims, len(grid.dims))))
        contexts = self._meet("Sub", remain, self._conclude_sub)
        part: Cartcomm = self._enter(CART, contexts[grid.slice_of(self._rank, remain)], grid.sub(remain))
        return part

    def _conclude_sub(self, values: dict[int, tuple[bool, ...]]) -> dict[tuple[int, ...], Context]:
        """A context for each part, by the coordinates in dimensions that do not remain."""
        first, old = values[0], self._local()
        for rank in range(1, len(values)):
            if values[rank] != first:
                words = f"remain_dims is {list(first)} on rank 0 and {list(values[rank])} on rank {rank}"
                raise MPIError(ERR_NOT_SAME, f"Sub: {words}, but all must say the same.")
        slices = self._shape().slices(first)
        return {place: Context(old.context.universe, old.members.take(ranks)) for place, ranks in slices.items()}

    dim = property(Get_dim)
    ndim = property(Get_dim)
    topo = property(Get_topo)

    @property
    def dims(self) -> list[int]:
        """How many positions each dimension has."""
        return list(self._shape().dims)

    @property
    def periods(self) -> list[int]:
        """Which dimensions are rings."""
        return list(self._shape().periods)

    @property
    def coords(self) -> list[int]:
        """Where this rank stands."""
        return list(self._shape().coords(self._rank))


class Graphcomm(Topocomm):
    """A communicator whose ranks are the nodes of a graph that every rank knows."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    _topologies = (GRAPH,)
    _described = "general graph"

    def Get_dims(self) -> tuple[int, int]:
        """The numbers of nodes and edges."""
        graph = self._shape()
        return len(graph.index), len(graph.edges)

    def Get_topo(self) -> tuple[list[int], list[int]]:
        """The index and the edges, as in Create_graph (and without a 0 in front)."""
        graph = self._shape()
        return list(graph.index), list(graph.edges)

    def Get_neighbors_count(self, rank: int) -> int:
        """How many neighbours a rank has."""
        return len(self.Get_neighbors(rank))

    def Get_neighbors(self, rank: int) -> list[int]:
        """The neighbours of a rank."""
        graph, number = self._shape(), integer("rank", rank)
        self._check_rank(number, "rank")
        return list(graph.sources(number))

    dims = property(Get_dims)
    topo = property(Get_topo)

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
        """Where the edges of each node end."""
        return self.Get_topo()[0]

    @property
    def edges(self) -> list[int]:
        """The neighbours of all nodes, one after the other."""
        return self.Get_topo()[1]

    @property
    def neighbors(self) -> list[int]:
        """This rank's neighbours."""
        return self.Get_neighbors(self._rank)

    @property
    def nneighbors(self) -> int:
        """How many neighbours this rank has."""
        return len(self.neighbors)


class Distgraphcomm(Topocomm):
    """A communicator with a graph of which every rank knows its own edges."""

    __slots__ = ()
    __module__ = "fakempi.MPI"

    _topologies = (DIST_GRAPH,)
    _described = "distributed graph"

    def Get_dist_neighbors_count(self) -> tuple[int, int, bool]:
        """How many edges come in and go out, and whether they have weights."""
        mine = self._shape()
        return len(mine.incoming), len(mine.outgoing), mine.weights is not None

    def Get_dist_neighbors(self) -> tuple[list[int], list[int], tuple[list[int], list[int]] | None]:
        """Sources, destinations, and the weights of both; None if they have no weights."""
        mine = self._shape()
        weights = None if mine.weights is None else (list(mine.weights[0]), list(mine.weights[1]))
        return list(mine.incoming), list(mine.outgoing), weights


TopologyMakers._topocomms.update({CART: Cartcomm, GRAPH: Graphcomm, DIST_GRAPH: Distgraphcomm})
