"""How intracommunicators make communicators with a topology: grids, graphs, distributed graphs.

Ranks are never reordered: the first ranks take the positions in order, and those for whom none is left get a null handle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import repeat
from typing import Any, ClassVar

from fakempi.error_classes import ERR_ARG, ERR_DIMS, ERR_NOT_SAME, ERR_TOPOLOGY
from fakempi.errors import MPIError, MPIValueError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import CART, DIST_GRAPH, GRAPH, PROC_NULL, UNDEFINED, UNWEIGHTED, WEIGHTS_EMPTY
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.topologies.topology import CartTopology, DistGraphTopology, GraphTopology, difference, integers

Edge = tuple[int, int, int]
"""Source, destination, weight."""


class TopologyMakers(Comm):
    """The part of an intracommunicator that makes communicators with a topology."""

    __slots__ = ()

    _topocomms: ClassVar[dict[int, type[Comm]]] = {}
    """The class for each kind of topology; filled where they are, since they are intracommunicators themselves."""

    def Create_cart(self, dims: Sequence[int], periods: Sequence[bool] | None = None, reorder: bool = False) -> Any:
        """A communicator whose ranks stand in a grid; in dimensions with a period, the last is next to the first."""
        grid = self._grid(dims, periods, ERR_ARG)
        return self._enter(CART, self._meet("Create_cart", grid, self._conclude_same), grid)

    def Create_graph(self, index: Sequence[int], edges: Sequence[int], reorder: bool = False) -> Any:
        """A communicator whose ranks are the nodes of a graph that every rank knows.

        `edges[index[i - 1] : index[i]]` are the neighbours of node i. The index may begin with a 0 of its own, if it
        ends with the number of edges.
        """
        graph = self._graph(index, edges)
        return self._enter(GRAPH, self._meet("Create_graph", graph, self._conclude_same), graph)

    def Create_dist_graph_adjacent(
        self,
        sources: Sequence[int],
        destinations: Sequence[int],
        sourceweights: Sequence[int] | None = None,
        destweights: Sequence[int] | None = None,
        info: Info = INFO_NULL,
        reorder: bool = False,
    ) -> Any:
        """A communicator with a graph of which every rank says its own edges, in and out."""
        self._check_alive()
        incoming = integers("sources", () if sources is None else sources)
        outgoing = integers("destinations", () if destinations is None else destinations)
        into = _weights("sourceweights", sourceweights, len(incoming))
        out = _weights("destweights", destweights, len(outgoing))
        self._check_ranks("source", [rank for rank in incoming if rank != PROC_NULL])
        self._check_ranks("destination", [rank for rank in outgoing if rank != PROC_NULL])
        if outgoing and (into is None) != (out is None):
            lack, have = ("source", "dest") if into is None else ("dest", "source")
            self._raise(complaint(ERR_TOPOLOGY, f"there are {have}weights, but {lack}weights is UNWEIGHTED."))
        mine = DistGraphTopology(incoming, outgoing, None if into is None else (into, out or ()))
        return self._enter(DIST_GRAPH, self._meet("Create_dist_graph_adjacent", mine, self._conclude_adjacent), mine)

    def Create_dist_graph(
        self,
        sources: Sequence[int],
        degrees: Sequence[int],
        destinations: Sequence[int],
        weights: Sequence[int] | None = None,
        info: Info = INFO_NULL,
        reorder: bool = False,
    ) -> Any:
        """A communicator with a graph of which every rank says any edges.

        The first `degrees[0]` destinations are those of `sources[0]`, and so on. Every rank has its edges in the order
        of the ranks that said them, and of each in the order in which it did.
        """
        self._check_alive()
        nodes = integers("sources", sources)
        counts = integers("degrees", degrees, len(nodes))
        for i, count in enumerate(counts):
            if count < 0:
                raise complaint(ERR_ARG, f"degrees[{i}] is {count}, which is negative.", MPIValueError)
        ends = integers("destinations", destinations, sum(counts))
        loads = _weights("weights", weights, len(ends))
        self._check_ranks("source", nodes)
        self._check_ranks("destination", ends)
        starts = [node for node, count in zip(nodes, counts, strict=True) for _ in range(count)]
        edges = list(zip(starts, ends, repeat(0) if loads is None else loads, strict=False))
        said = edges, loads is not None
        context, parts = self._meet("Create_dist_graph", said, self._conclude_dist_graph)
        return self._enter(DIST_GRAPH, context, parts[self._rank])

    def Cart_map(self, dims: Sequence[int], periods: Sequence[bool] | None = None) -> int:
        """The rank that this rank should have in a grid, which is the one it has; UNDEFINED if there is no place."""
        return self._rank if self._rank < self._grid(dims, periods, ERR_DIMS).size else UNDEFINED

    def Graph_map(self, index: Sequence[int], edges: Sequence[int]) -> int:
        """The rank that this rank should have in a graph, which is the one it has; UNDEFINED if there is no node."""
        return self._rank if self._rank < self._graph(index, edges).size else UNDEFINED

    # -- what is asked for ----------------------------------------------------------------------------------------

    def _grid(self, dims: Any, periods: Any, too_large: int) -> CartTopology:
        """The grid that a program describes, which must fit into this communicator."""
        ranks = len(self._local().members)
        extents = integers("dims", dims)
        if periods is None or isinstance(periods, bool):
            periods = [bool(periods)] * len(extents)
        rings = integers("periods", periods, len(extents))
        for i, extent in enumerate(extents):
            if extent < 1:
                self._raise(complaint(ERR_DIMS, f"dims[{i}] is {extent}; a dimension has at least 1 position."))
        grid = CartTopology.of(extents, rings)
        if grid.size > ranks:
            words = f"a grid of {list(extents)} has {grid.size} positions, but the communicator has {ranks} ranks."
            self._raise(complaint(too_large, words))
        return grid

    def _graph(self, index: Any, edges: Any) -> GraphTopology:
        """The graph that a program describes, which must fit into this communicator."""
        ranks = len(self._local().members)
        ends, targets = integers("index", index), integers("edges", edges)
        note = ""
        if ends and ends[0] == 0 and ends[-1] == len(targets):
            ends, note = ends[1:], " (the first 0 of the index counts as no node, since it ends with the number of edges)"
        if len(ends) > ranks:
            self._raise(complaint(ERR_ARG, f"the graph has {len(ends)} nodes, but the communicator has {ranks} ranks."))
        for i, end in enumerate(ends):
            if end < (ends[i - 1] if i else 0):
                words = f"{end} after {ends[i - 1]}: the index must not decrease" if i else f"{end}, which is negative"
                self._raise(complaint(ERR_ARG, f"index[{i}] is {words}."))
        if ends and ends[-1] > len(targets):
            words = f"the index ends with {ends[-1]}, but there are {len(targets)} edges."
            raise complaint(ERR_ARG, words, MPIValueError)
        targets = targets[: ends[-1] if ends else 0]
        for i, target in enumerate(targets):
            if not 0 <= target < len(ends):
                self._raise(complaint(ERR_ARG, f"edges[{i}] is {target}, not a node in 0..{len(ends) - 1}{note}."))
        return GraphTopology.of(ends, targets)

    def _check_ranks(self, what: str, ranks: Sequence[int]) -> None:
        for rank in ranks:
            self._check_rank(rank, what)

    # -- what comes of it -----------------------------------------------------------------------------------------

    def _conclude_same(self, values: dict[int, Any]) -> Context | None:
        """A context for the first ranks, of a topology that all name alike."""
        first = values[0]
        for rank in range(1, len(values)):
            if values[rank] is not first:
                where, here, there = difference(first, values[rank])
                call = "Create_cart" if first.kind == CART else "Create_graph"
                words = f"{call}: {where} is {here} on rank 0 and {there} on rank {rank}, but all must say the same."
                raise MPIError(ERR_NOT_SAME, words)
        old = self._local()
        return Context(old.context.universe, old.members.take(range(first.size))) if first.size else None

    def _conclude_adjacent(self, values: dict[int, DistGraphTopology]) -> Context:
        """A context for all. What ranks say of their edges may differ, as in real libraries, unless the run is strict."""
        old = self._local().context
        if old.universe.strict:
            out = Counter((rank, to) for rank in values for to in values[rank].outgoing if to != PROC_NULL)
            into = Counter((by, rank) for rank in values for by in values[rank].incoming if by != PROC_NULL)
            for source, target in sorted({*out, *into}):
                if (said := out[source, target]) != (heard := into[source, target]):
                    raise MPIError(
                        ERR_TOPOLOGY,
                        f"Create_dist_graph_adjacent: rank {source} has rank {target} among its destinations {said} times, "
                        f"but rank {target} has rank {source} among its sources {heard} times.",
                    )
        return old.new_twin()

    def _conclude_dist_graph(
        self, values: dict[int, tuple[list[Edge], bool]]
    ) -> tuple[Context, dict[int, DistGraphTopology]]:
        """A context for all, and each rank's part of the graph. Those who say no edges do not decide about weights."""
        speakers = [rank for rank in sorted(values) if values[rank][0]]
        weighted = values[speakers[0]][1] if speakers else any(flag for _, flag in values.values())
        parts: dict[int, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {rank: ([], []) for rank in values}
        for rank in speakers:
            edges, flag = values[rank]
            if flag != weighted:
                one, other = (speakers[0], rank) if weighted else (rank, speakers[0])
                words = f"Create_dist_graph: the edges of rank {one} have weights and those of rank {other} have none."
                raise MPIError(ERR_TOPOLOGY, words)
            for source, target, weight in edges:
                parts[source][1].append((target, weight))
                parts[target][0].append((source, weight))
        return self._local().context.new_twin(), {rank: _part(*parts[rank], weighted) for rank in parts}

    def _enter(self, kind: int, context: Context | None, topology: Any) -> Any:
        """This process's handle in a context with a topology; null if it has no place there."""
        rank = None if context is None else context.sides[0].members.index(self._process.number)
        made = self._topocomms[kind]
        if context is None or rank is None:
            return made()
        new = made._make(self._process, context.sides[0], context.sides[0], rank)
        new._belongings().topology = topology
        return new


def _weights(what: str, weights: Any, number: int) -> tuple[int, ...] | None:
    """The weights of so many edges, or None if they have none."""
    if weights is None or (isinstance(weights, int) and weights == UNWEIGHTED):
        return None
    if isinstance(weights, int) and weights == WEIGHTS_EMPTY:
        if number:
            raise complaint(ERR_ARG, f"{what} is WEIGHTS_EMPTY, but there are {number} edges.", MPIValueError)
        return ()
    return integers(what, weights, number)


def _part(into: list[tuple[int, int]], out: list[tuple[int, int]], weighted: bool) -> DistGraphTopology:
    """A rank's part of a graph, of (neighbour, weight) for its edges in and out."""
    (sources, before), (targets, after) = (tuple(zip(*edges, strict=True)) or ((), ()) for edges in (into, out))
    return DistGraphTopology(sources, targets, (before, after) if weighted else None)
