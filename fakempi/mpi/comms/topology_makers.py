"""Creation of communicators with a topology: grids, graphs, distributed graphs.

Ranks are never reordered: the first ranks take the positions in order, and remaining ranks get a null handle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar

from fakempi.errors import MPIError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_DIMS, ERR_NOT_SAME, ERR_TOPOLOGY
from fakempi.errors.plurals import counted
from fakempi.mpi.base.constants import CART, DIST_GRAPH, GRAPH, PROC_NULL, UNDEFINED, UNWEIGHTED, WEIGHTS_EMPTY
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.topologies.topology import CartTopology, DistGraphTopology, GraphTopology, difference, integers

if TYPE_CHECKING:
    from fakempi.mpi.comms.topocomm import Cartcomm, Distgraphcomm, Graphcomm

Edge = tuple[int, int, int]
"""Source, destination, weight."""


class TopologyMakers(Comm):
    """The methods of an intracommunicator that create communicators with a topology."""

    __slots__ = ()

    _topocomms: ClassVar[dict[int, type[Comm]]] = {}
    """The communicator class for each kind of topology; set by the module of the classes, which imports this module."""

    def Create_cart(self, dims: Sequence[int], periods: Sequence[bool] | None = None, reorder: bool = False) -> Cartcomm:
        """Return a communicator with a Cartesian grid; periodic dimensions wrap around."""
        grid = self._grid(dims, periods, ERR_ARG)
        new: Cartcomm = self._enter(CART, self._rendezvous("Create_cart", grid, self._conclude_same), grid)
        return new

    def Create_graph(self, index: Sequence[int], edges: Sequence[int], reorder: bool = False) -> Graphcomm:
        """Return a communicator whose ranks are the nodes of a graph; every rank passes the whole graph.

        `edges[index[i - 1] : index[i]]` are the neighbors of node i. The index may have a leading 0 if it
        ends with the number of edges.
        """
        graph = self._graph(index, edges)
        new: Graphcomm = self._enter(GRAPH, self._rendezvous("Create_graph", graph, self._conclude_same), graph)
        return new

    def Create_dist_graph_adjacent(
        self,
        sources: Sequence[int],
        destinations: Sequence[int],
        sourceweights: Sequence[int] | None = None,
        destweights: Sequence[int] | None = None,
        info: Info = INFO_NULL,
        reorder: bool = False,
    ) -> Distgraphcomm:
        """Return a communicator with a graph; every rank passes its own incoming and outgoing edges."""
        self._check_alive()
        incoming = integers("sources", () if sources is None else sources)
        outgoing = integers("destinations", () if destinations is None else destinations)
        in_weights = _weights("sourceweights", sourceweights, len(incoming))
        out_weights = _weights("destweights", destweights, len(outgoing))
        self._check_ranks("source", [rank for rank in incoming if rank != PROC_NULL])
        self._check_ranks("destination", [rank for rank in outgoing if rank != PROC_NULL])
        if outgoing and (in_weights is None) != (out_weights is None):
            lack, have = ("source", "dest") if in_weights is None else ("dest", "source")
            self._raise(mpi_error(ERR_TOPOLOGY, f"there are {have}weights, but {lack}weights is UNWEIGHTED."))
        part = DistGraphTopology(incoming, outgoing, None if in_weights is None else (in_weights, out_weights or ()))
        context = self._rendezvous("Create_dist_graph_adjacent", part, self._conclude_adjacent)
        new: Distgraphcomm = self._enter(DIST_GRAPH, context, part)
        return new

    def Create_dist_graph(
        self,
        sources: Sequence[int],
        degrees: Sequence[int],
        destinations: Sequence[int],
        weights: Sequence[int] | None = None,
        info: Info = INFO_NULL,
        reorder: bool = False,
    ) -> Distgraphcomm:
        """Return a communicator with a graph; each rank may pass any edges of it.

        The first `degrees[0]` destinations are those of `sources[0]`, and so on. The neighbors of a rank are sorted by the
        rank that passed the edge; edges that one rank passed keep their order.
        """
        self._check_alive()
        nodes = integers("sources", sources)
        counts = integers("degrees", degrees, len(nodes))
        for i, count in enumerate(counts):
            if count < 0:
                raise mpi_error(ERR_ARG, f"degrees[{i}] is {count}, which is negative.", MPIValueError)
        ends = integers("destinations", destinations, sum(counts))
        edge_weights = _weights("weights", weights, len(ends))
        self._check_ranks("source", nodes)
        self._check_ranks("destination", ends)
        starts = [node for node, count in zip(nodes, counts, strict=True) for _ in range(count)]
        edges = list(zip(starts, ends, repeat(0) if edge_weights is None else edge_weights, strict=False))
        passed = edges, edge_weights is not None
        context, parts = self._rendezvous("Create_dist_graph", passed, self._conclude_dist_graph)
        new: Distgraphcomm = self._enter(DIST_GRAPH, context, parts[self._rank])
        return new

    def Cart_map(self, dims: Sequence[int], periods: Sequence[bool] | None = None) -> int:
        """Return this rank, as ranks are never reordered; UNDEFINED if the grid is too small for it."""
        return self._rank if self._rank < self._grid(dims, periods, ERR_DIMS).size else UNDEFINED

    def Graph_map(self, index: Sequence[int], edges: Sequence[int]) -> int:
        """Return this rank, as ranks are never reordered; UNDEFINED if the graph is too small for it."""
        return self._rank if self._rank < self._graph(index, edges).size else UNDEFINED

    # -- arguments ------------------------------------------------------------------------------------------------

    def _grid(self, dims: Sequence[int], periods: Sequence[bool] | None, error_class: int) -> CartTopology:
        """Return a grid. If it has more positions than this communicator has ranks, raise an error of `error_class`."""
        ranks = len(self._local().members)
        extents = integers("dims", dims)
        if periods is None or isinstance(periods, bool):
            periods = [bool(periods)] * len(extents)
        periodic = integers("periods", periods, len(extents))
        for i, extent in enumerate(extents):
            if extent < 1:
                self._raise(mpi_error(ERR_DIMS, f"dims[{i}] is {extent}; a dimension has at least 1 position."))
        grid = CartTopology.of(extents, periodic)
        if grid.size > ranks:
            number = counted(ranks, "rank")
            sentence = f"a grid of {list(extents)} has {grid.size} positions, but the communicator has {number}."
            self._raise(mpi_error(error_class, sentence))
        return grid

    def _graph(self, index: Sequence[int], edges: Sequence[int]) -> GraphTopology:
        """Return a graph, or raise an error if it is invalid or has more nodes than this communicator has ranks."""
        ranks = len(self._local().members)
        ends, targets = integers("index", index), integers("edges", edges)
        note = ""
        if ends and ends[0] == 0 and ends[-1] == len(targets):
            ends, note = ends[1:], " (a leading 0 of the index is skipped if the index ends with the number of edges)"
        if len(ends) > ranks:
            number = counted(ranks, "rank")
            self._raise(mpi_error(ERR_ARG, f"the graph has {len(ends)} nodes, but the communicator has {number}."))
        for i, end in enumerate(ends):
            if end < (ends[i - 1] if i else 0):
                problem = f"{end} after {ends[i - 1]}: the index must not decrease" if i else f"{end}, which is negative"
                self._raise(mpi_error(ERR_ARG, f"index[{i}] is {problem}."))
        if ends and ends[-1] > len(targets):
            problem = f"the index ends with {ends[-1]}, but there are {len(targets)} edges."
            raise mpi_error(ERR_ARG, problem, MPIValueError)
        targets = targets[: ends[-1] if ends else 0]
        for i, target in enumerate(targets):
            if not 0 <= target < len(ends):
                self._raise(mpi_error(ERR_ARG, f"edges[{i}] is {target}, not a node in 0..{len(ends) - 1}{note}."))
        return GraphTopology.of(ends, targets)

    def _check_ranks(self, what: str, ranks: Sequence[int]) -> None:
        for rank in ranks:
            self._check_rank(rank, what)

    # -- results --------------------------------------------------------------------------------------------------

    def _conclude_same(self, values: dict[int, Any]) -> Context | None:
        """Return a context for the ranks that have a position, or None. All ranks must pass the same topology."""
        first = values[0]
        for rank in range(1, len(values)):
            if values[rank] is not first:
                where, here, there = difference(first, values[rank])
                call = "Create_cart" if first.kind == CART else "Create_graph"
                sentence = (
                    f"{call}: {where} is {here} on rank 0 and {there} on rank {rank}, but all ranks must pass the same."
                )
                raise MPIError(ERR_NOT_SAME, sentence)
        old = self._local()
        return Context(old.context.universe, old.members.take(range(first.size))) if first.size else None

    def _conclude_adjacent(self, values: dict[int, DistGraphTopology]) -> Context:
        """Return a context for all ranks. Only strict runs check that edges are consistent; MPI libraries do not."""
        old = self._local().context
        if old.universe.strict:
            out = Counter((rank, to) for rank in values for to in values[rank].outgoing if to != PROC_NULL)
            into = Counter((by, rank) for rank in values for by in values[rank].incoming if by != PROC_NULL)
            for source, target in sorted({*out, *into}):
                if (sent := out[source, target]) != (expected := into[source, target]):
                    raise MPIError(
                        ERR_TOPOLOGY,
                        f"Create_dist_graph_adjacent: rank {source} has rank {target} among its destinations {sent} times, "
                        f"but rank {target} has rank {source} among its sources {expected} times.",
                    )
        return old.duplicate()

    def _conclude_dist_graph(
        self, values: dict[int, tuple[list[Edge], bool]]
    ) -> tuple[Context, dict[int, DistGraphTopology]]:
        """Return a context for all ranks, and each rank's part of the graph.

        All ranks that pass edges must pass weights, or none of them. Ranks that pass no edges may do either.
        """
        with_edges = [rank for rank in sorted(values) if values[rank][0]]
        weighted = values[with_edges[0]][1] if with_edges else any(flag for _, flag in values.values())
        parts: dict[int, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {rank: ([], []) for rank in values}
        for rank in with_edges:
            edges, flag = values[rank]
            if flag != weighted:
                with_weights, without = (with_edges[0], rank) if weighted else (rank, with_edges[0])
                sentence = (
                    f"Create_dist_graph: the edges of rank {with_weights} have weights "
                    f"and those of rank {without} have none."
                )
                raise MPIError(ERR_TOPOLOGY, sentence)
            for source, target, weight in edges:
                parts[source][1].append((target, weight))
                parts[target][0].append((source, weight))
        return self._local().context.duplicate(), {rank: _part(*parts[rank], weighted) for rank in parts}

    def _enter(self, kind: int, context: Context | None, topology: object) -> Any:
        """Return this process's handle in a context with a topology; a null handle if the process is not a member."""
        rank = None if context is None else context.sides[0].members.index(self._process.number)
        comm_class = self._topocomms[kind]
        if context is None or rank is None:
            return comm_class()
        new = comm_class._make(self._process, context.sides[0], context.sides[0], rank)
        new._properties().topology = topology
        return new


def _weights(what: str, weights: Sequence[int] | None, number: int) -> tuple[int, ...] | None:
    """Return the weights of `number` edges, or None if the edges are unweighted."""
    if weights is None or (isinstance(weights, int) and weights == UNWEIGHTED):
        return None
    if isinstance(weights, int) and weights == WEIGHTS_EMPTY:
        if number:
            raise mpi_error(ERR_ARG, f"{what} is WEIGHTS_EMPTY, but there are {number} edges.", MPIValueError)
        return ()
    return integers(what, weights, number)


def _part(into: list[tuple[int, int]], out: list[tuple[int, int]], weighted: bool) -> DistGraphTopology:
    """Return a rank's part of a graph, from (neighbor, weight) of its incoming and outgoing edges."""
    (sources, in_weights), (targets, out_weights) = (tuple(zip(*edges, strict=True)) or ((), ()) for edges in (into, out))
    return DistGraphTopology(sources, targets, (in_weights, out_weights) if weighted else None)
