"""Topologies of fakempi and of a real MPI: the same grids, graphs and neighbors, and the same errors, for random ones.

As a script under mpiexec, this file is the part that runs on a real MPI: it prints the results of mpi4py on every rank. Both
parts are the same program, `facts`, called with different MPI modules.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests.helpers.loops import for_each
from tests.real_mpi.processes import answer, script_answer, through_json

SIZES = [1, 2, 4, pytest.param(6, marks=pytest.mark.slow)]


def outcome(MPI: Any, call: Callable[[], Any]) -> Any:
    """The result of a call, or the name of its exception."""
    try:
        return call()
    except (TypeError, ValueError) as error:
        return "TypeError" if isinstance(error, TypeError) else "ValueError"
    except MPI.Exception as error:
        names = {getattr(MPI, name): name for name in ("ERR_ARG", "ERR_COMM", "ERR_DIMS", "ERR_RANK", "ERR_TOPOLOGY")}
        return names[error.Get_error_class()]


def edges(comm: Any) -> list[Any]:
    """The neighbors of any topology."""
    return [comm.topology, comm.degrees, comm.indegree, comm.outdegree, comm.inoutedges, comm.inedges, comm.outedges]


def random_shape(draw: random.Random, size: int) -> list[int]:
    """Dimensions of a grid of at most `size` positions."""
    dims: list[int] = []
    while draw.random() < 0.7:
        dims.append(draw.randint(1, max(1, size)))
        size //= dims[-1]
    return dims


def grid_facts(MPI: Any, comm: Any, draw: random.Random) -> list[Any]:
    """A random grid, its shifts, its parts, and some errors."""
    dims = random_shape(draw, comm.size)
    periods = [draw.random() < 0.5 for _ in dims]
    remain = [draw.random() < 0.5 for _ in dims]
    moves = [(draw.randint(-1, 3), draw.randint(-6, 6)) for _ in range(6)]
    places = [[draw.randint(-4, 7) for _ in dims] for _ in range(6)]
    grid = comm.Create_cart(dims, periods)
    results: list[Any] = [dims, type(grid).__name__, comm.Cart_map(dims, periods), grid != MPI.COMM_NULL]
    if grid == MPI.COMM_NULL:
        return results
    copy, part = grid.Dup(), grid.Sub(remain)
    results += [grid.topo, grid.dim, grid.ndim, grid.dims, grid.periods, grid.coords, edges(grid), edges(copy), copy.topo]
    results += [part.topo, part.rank, part.size, edges(part), part.group.Translate_ranks(None, grid.group)]
    results += [outcome(MPI, lambda move=move: grid.Shift(*move)) for move in moves]  # type: ignore[misc]
    results += [outcome(MPI, lambda place=place: grid.Get_cart_rank(place)) for place in places]  # type: ignore[misc]
    results += [outcome(MPI, lambda rank=rank: grid.Get_coords(rank)) for rank in range(-1, grid.size + 1)]  # type: ignore[misc]
    for one in copy, part, grid:
        one.Free()
    return results


def graph_facts(MPI: Any, comm: Any, draw: random.Random) -> list[Any]:
    """A random graph that every rank knows."""
    nodes = draw.randint(1, comm.size)
    lists = [[draw.randrange(nodes) for _ in range(draw.randint(0, 3))] for _ in range(nodes)]
    index = [sum(map(len, lists[: node + 1])) for node in range(nodes)]
    if index[0] == 0 or draw.random() < 0.5:
        index.insert(0, 0)  # mpi4py allows a leading 0
    listed = [edge for each in lists for edge in each]
    graph = comm.Create_graph(index, listed)
    results: list[Any] = [index, type(graph).__name__, comm.Graph_map(index, listed), graph != MPI.COMM_NULL]
    if graph != MPI.COMM_NULL:
        results += [graph.dims, graph.nnodes, graph.nedges, graph.topo, graph.index, graph.edges, graph.neighbors]
        results += [graph.nneighbors, edges(graph), edges(graph.Dup())]
        results += [outcome(MPI, lambda rank=rank: graph.Get_neighbors(rank)) for rank in range(-1, graph.size + 1)]  # type: ignore[misc]
        graph.Free()
    return results


def dist_graph_facts(MPI: Any, comm: Any, draw: random.Random) -> list[Any]:
    """A random distributed graph, specified in both ways; the order of edges that other ranks specify is undefined."""
    size, me, weighted = comm.size, comm.rank, draw.random() < 0.5
    graph = [(draw.randrange(size), draw.randrange(size), draw.randrange(9)) for _ in range(draw.randint(0, 3 * size))]
    owners = [draw.randrange(size) for _ in graph]
    into, out = [edge for edge in graph if edge[1] == me], [edge for edge in graph if edge[0] == me]
    loads = [[weight for _, _, weight in some] or MPI.WEIGHTS_EMPTY for some in (into, out)]
    adjacent = comm.Create_dist_graph_adjacent(
        [edge[0] for edge in into], [edge[1] for edge in out], *(loads if weighted else [MPI.UNWEIGHTED] * 2)
    )
    specified = [edge for edge, by in zip(graph, owners, strict=True) if by == me]
    general = comm.Create_dist_graph(
        [edge[0] for edge in specified], [1] * len(specified), [edge[1] for edge in specified],
        [edge[2] for edge in specified] if weighted else None,
    )  # fmt: skip
    sources, destinations, weights = general.Get_dist_neighbors()
    if weights is not None:
        sources, destinations = zip(sources, weights[0], strict=True), zip(destinations, weights[1], strict=True)
    results = [adjacent.Get_dist_neighbors_count(), adjacent.Get_dist_neighbors(), edges(adjacent), edges(adjacent.Dup())]
    results += [type(general).__name__, general.Get_dist_neighbors_count(), sorted(sources), sorted(destinations)]
    adjacent.Free()
    general.Free()
    return results


def mistakes(MPI: Any, comm: Any) -> list[Any]:
    """Calls that every MPI library rejects."""
    size, me = comm.size, comm.rank
    line, graph = comm.Create_cart([size]), comm.Create_graph([1] * size, [0])
    calls: list[Callable[[], Any]] = [
        lambda: comm.Create_cart([size, 2]), lambda: comm.Cart_map([size, 2]), lambda: comm.Create_cart(size),
        lambda: comm.Create_cart([1], [True, False]), lambda: comm.Create_cart([1.0]), lambda: comm.Create_cart([1], 5),
        lambda: line.Get_cart_rank([0, 0]), lambda: line.Get_cart_rank(0), lambda: line.Sub([1, 1]), lambda: line.Sub(True),
        lambda: MPI.Cartcomm().Get_dim(), lambda: MPI.Cartcomm(graph), lambda: MPI.Graphcomm(line),
        lambda: MPI.Topocomm(comm),
        lambda: comm.Create_graph([1] * (size + 1), [0]), lambda: comm.Graph_map([1] * (size + 1), [0]),
        lambda: comm.Create_graph([-1], [0]), lambda: comm.Create_graph([1], [-1]), lambda: comm.Create_graph(None, []),
        lambda: comm.Create_dist_graph_adjacent([me], [me], [1], None),
        lambda: comm.Create_dist_graph_adjacent([me], [me], None, [1]),
        lambda: comm.Create_dist_graph_adjacent([me], [me], [1, 2], [1]),
        lambda: comm.Create_dist_graph_adjacent([me], [me], MPI.WEIGHTS_EMPTY, MPI.WEIGHTS_EMPTY),
        lambda: comm.Create_dist_graph_adjacent([me], [me], 5, 5),
        lambda: comm.Create_dist_graph([me], [1, 1], [me]), lambda: comm.Create_dist_graph([me], [2], [me]),
        lambda: comm.Create_dist_graph([me], 1, [me]), lambda: comm.Create_dist_graph([me], [1], [me], []),
        lambda: comm.Create_dist_graph(None, None, None), lambda: MPI.Compute_dims(12, [0, 5]),
        lambda: MPI.Compute_dims(12, [0, -1]), lambda: MPI.Compute_dims(-1, [0]), lambda: MPI.Compute_dims(12, -1),
        lambda: MPI.Compute_dims(12, "ab"), lambda: MPI.Compute_dims(12, [4, 4]),
    ]  # fmt: skip
    return [outcome(MPI, call) for call in calls]


def even_grids(MPI: Any) -> list[Any]:
    """Compute_dims for small numbers, large ones, and with some dimensions given."""
    draw = random.Random(5)
    arguments: list[Any] = [(nnodes, ndims) for nnodes in range(1, 600) for ndims in range(1, 6)]
    for _ in range(300):
        arguments.append((2 ** draw.randrange(18) * 3 ** draw.randrange(5) * 5 ** draw.randrange(3), draw.randint(1, 6)))
    arguments += [(draw.randint(1, 10**6), draw.randint(1, 6)) for _ in range(300)]
    for _ in range(300):
        dims = [draw.choice([0, 0, 1, 2, 3, 6]) for _ in range(draw.randint(1, 5))]
        arguments.append((draw.randint(1, 700), dims))
    return [[what, outcome(MPI, lambda what=what: MPI.Compute_dims(*what))] for what in arguments]  # type: ignore[misc]


def facts(MPI: Any, comm: Any) -> dict[str, Any]:
    """The results of an MPI on one rank."""
    draw = random.Random(comm.size)  # the same on every rank
    return {
        "grids": [grid_facts(MPI, comm, draw) for _ in range(25)],
        "graphs": [graph_facts(MPI, comm, draw) for _ in range(15)],
        "distributed graphs": [dist_graph_facts(MPI, comm, draw) for _ in range(15)],
        "mistakes": mistakes(MPI, comm),
        "even grids": even_grids(MPI) if comm.size == 1 else [],
    }


@cache
def real(size: int) -> Any:
    """The results of a real MPI, by rank. Cached, so that mpiexec is started once per size."""
    return script_answer(__file__, ranks=size)


@cache
def emulated(size: int) -> Any:
    """The results of fakempi, in the form of JSON: tuples are lists."""
    import fakempi  # imported here, because the script under mpiexec does not need fakempi
    from fakempi import MPI as ours

    returns = fakempi.run(lambda comm: facts(ours, comm), size).returns
    return through_json(returns)


@for_each("topic", ["grids", "graphs", "distributed graphs", "mistakes", "even grids"])
@pytest.mark.parametrize("size", SIZES)
def test_topologies_agree(size: int, topic: str) -> None:
    """On every rank."""
    for rank, (theirs, mine) in enumerate(zip(real(size), emulated(size), strict=True)):
        for number, (right, found) in enumerate(zip(theirs[topic], mine[topic], strict=True)):
            assert (rank, number, found) == (rank, number, right)


if __name__ == "__main__":
    answer(facts)
