"""Topologies from invalid arguments, and calls on communicators with another topology."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.real_mpi.random.invalid.scene import Scene


def _cart(s: Scene, periods: bool | None = None, dims: list[int] | None = None) -> Any:
    shape = [s.size] if dims is None else dims
    return s.keep(s.comm.Create_cart(shape, [s.pick(True, False) if periods is None else periods] * len(shape)))


def _graph(s: Scene) -> Any:
    """A ring."""
    return s.keep(s.comm.Create_graph([k + 1 for k in range(s.size)], [(k + 1) % s.size for k in range(s.size)]))


def _adjacent(s: Scene) -> Any:
    return s.keep(s.comm.Create_dist_graph_adjacent([(s.rank - 1) % s.size], [(s.rank + 1) % s.size]))


def _dist(s: Scene, kind: str) -> Any:
    weights = {"weights": [s.pick(-1, -3)]} if kind == "weights" else {}
    return s.comm.Create_dist_graph(
        [0],
        [s.pick(-1, -4) if kind == "degree" else 1],
        [0],
        **weights,
    )


def _adjacent_wrong(s: Scene, kind: str) -> Any:
    bad = s.pick(-7, -5, s.size, s.size + 3)
    weights = ([s.pick(-1, -3)], [1]) if kind == "weights" else ()
    return s.comm.Create_dist_graph_adjacent(
        [bad if kind == "source" else 0], [bad if kind == "destination" else 0], *weights
    )


def _exchange(s: Scene) -> Any:
    """A neighborhood collective call on a communicator without topology is not a method of it in mpi4py."""
    call = s.pick("Neighbor_allgather", "neighbor_allgather", "Neighbor_alltoall")
    return hasattr(s.comm, call)


def _other(s: Scene) -> Any:
    """A query of another topology, by a handle of another class."""
    MPI = s.MPI
    made = s.pick(_graph, _adjacent, _cart)(s)
    kind = s.pick("Cartcomm", "Graphcomm", "Distgraphcomm")
    other = getattr(MPI, kind)(made)
    calls: dict[str, tuple[str, ...]] = {
        "Cartcomm": ("Get_dim", "Get_topo", "Get_cart_rank", "Get_coords", "Shift", "Sub", "Cart_map"),
        "Graphcomm": ("Get_dims", "Get_topo", "Get_neighbors", "Get_neighbors_count"),
        "Distgraphcomm": ("Get_dist_neighbors_count", "Get_dist_neighbors"),
    }
    name = s.pick(*calls[kind])
    arguments: dict[str, list[Any]] = {
        "Get_cart_rank": [[0]],
        "Get_coords": [0],
        "Shift": [0, 1],
        "Sub": [[True]],
        "Cart_map": [[1]],
        "Get_neighbors": [0],
        "Get_neighbors_count": [0],
    }
    return getattr(other, name)(*arguments.get(name, []))


CASES: dict[str, Callable[[Scene], Any]] = {
    "Create_cart: too large": lambda s: s.comm.Create_cart(s.pick([s.size + 1], [s.size, 2], [2, 2, 2])),
    "Create_cart: periods": lambda s: s.comm.Create_cart([1, s.size], [True] * s.pick(1, 3)),
    "Create_graph: too large": lambda s: s.comm.Create_graph(list(range(1, s.size + 2)), [0] * (s.size + 1)),
    "Create_graph: edges": lambda s: s.comm.Create_graph([1], [s.pick(-7, -5)]),
    "Create_graph: index": lambda s: s.comm.Create_graph(s.pick([-1], [-3]), [0]),
    "Create_dist_graph: degree": lambda s: _dist(s, "degree"),
    "Create_dist_graph: weights": lambda s: _dist(s, "weights"),
    "Create_dist_graph_adjacent: source": lambda s: _adjacent_wrong(s, "source"),
    "Create_dist_graph_adjacent: destination": lambda s: _adjacent_wrong(s, "destination"),
    "Create_dist_graph_adjacent: weights": lambda s: _adjacent_wrong(s, "weights"),
    "Get_cart_rank: coordinates": lambda s: _cart(s, False).Get_cart_rank([s.pick(-1, -4, s.size, s.size + 3)]),
    "Get_cart_rank: number of coordinates": lambda s: _cart(s).Get_cart_rank([0] * s.pick(0, 2, 3)),
    "Get_coords: rank": lambda s: _cart(s).Get_coords(s.pick(-1, -3, s.size, s.size + 2)),
    "Shift: direction": lambda s: _cart(s).Shift(s.pick(-1, -2, 1, 2, 5), 1),
    "Sub: number of dimensions": lambda s: _cart(s).Sub([True] * s.pick(0, 2)),
    "Cart_map: dims": lambda s: _cart(s).Cart_map(s.pick([-1], [0], [s.size + 1], [s.size, -1])),
    "Get_neighbors: rank": lambda s: _graph(s).Get_neighbors(s.pick(-1, -3, s.size, s.size + 2)),
    "Get_neighbors_count: rank": lambda s: _graph(s).Get_neighbors_count(s.pick(-1, -3, s.size, s.size + 2)),
    "Graph_map": lambda s: _graph(s).Graph_map(s.pick([s.size + 7], [-1]), [0]),
    "Graph_map: edges": lambda s: _graph(s).Graph_map([1], [s.pick(-1, s.size)]),
    "Compute_dims: no nodes": lambda s: s.MPI.Compute_dims(0, [0]),
    "Compute_dims": lambda s: s.MPI.Compute_dims(
        *s.pick((6, [4, 0]), (7, [2, 0]), (-1, 2), (6, [-1, 0]), (6, [2, 2]), (6, [6, 1]), (4, 0), (4, [3]))
    ),
    "neighborhood without topology": _exchange,
    "query of another topology": _other,
}
