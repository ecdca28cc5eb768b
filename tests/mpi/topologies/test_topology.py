"""Arithmetic of grids and graphs, and Compute_dims, without communicators."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_DIMS
from fakempi.mpi.base.constants import PROC_NULL
from fakempi.mpi.topologies.topology import CartTopology, Compute_dims, DistGraphTopology, GraphTopology, difference
from tests.helpers.loops import for_each

extents = st.lists(st.integers(1, 5), max_size=4)


@st.composite
def grids(draw: st.DrawFn, most: int = 4) -> CartTopology:
    """Grids of up to n dimensions, each periodic or not."""
    dims = draw(st.lists(st.integers(1, 5), max_size=most))
    return CartTopology.of(tuple(dims), tuple(draw(st.integers(0, 1)) for _ in dims))


# -- grids -----------------------------------------------------------------------------------------------------------


@given(grids())
def test_coordinates_and_ranks_are_inverse(grid: CartTopology) -> None:
    """In the order of array elements, with the last dimension fastest."""
    everywhere = [grid.coords(rank) for rank in range(grid.size)]
    assert everywhere == [list(place) for place in product(*map(range, grid.dims))]
    assert [grid.rank(place) for place in everywhere] == list(range(grid.size))


@given(grids(), st.data())
def test_coordinates_of_a_periodic_dimension_may_be_any(grid: CartTopology, data: st.DataObject) -> None:
    """They are reduced modulo the extent."""
    rank = data.draw(st.integers(0, grid.size - 1))
    turns = [data.draw(st.integers(-3, 3)) * extent for extent in grid.dims]
    assert grid.rank([at + turn for at, turn in zip(grid.coords(rank), turns, strict=True)]) == rank
    inside = [grid.contains(i, at + turns[i]) for i, at in enumerate(grid.coords(rank))]
    assert inside == [bool(ring) or turn == 0 for ring, turn in zip(grid.periods, turns, strict=True)]


@given(grids(), st.integers(-7, 7), st.data())
def test_a_shift_changes_one_coordinate(grid: CartTopology, disp: int, data: st.DataObject) -> None:
    """Modulo its extent in a periodic dimension; otherwise it ends at the edge."""
    if not grid.dims:
        return
    rank = data.draw(st.integers(0, grid.size - 1))
    direction = data.draw(st.integers(0, len(grid.dims) - 1))
    for found, step in zip(grid.shift(rank, direction, disp), (-disp, disp), strict=True):
        place = grid.coords(rank)
        place[direction] += step
        assert found == (grid.rank(place) if grid.contains(direction, place[direction]) else PROC_NULL)


@given(grids(), st.integers(-7, 7))
def test_source_and_destination_of_a_shift_are_inverse(grid: CartTopology, disp: int) -> None:
    """The source of my destination is this rank."""
    for direction in range(len(grid.dims)):
        shifts = [grid.shift(rank, direction, disp) for rank in range(grid.size)]
        for rank, (source, dest) in enumerate(shifts):
            assert dest == PROC_NULL or shifts[dest][0] == rank
            assert source == PROC_NULL or shifts[source][1] == rank


def test_neighbors_are_pairs_per_dimension() -> None:
    """Previous, next, and PROC_NULL beyond an edge."""
    grid = CartTopology.of((2, 3), (0, 1))
    assert grid.sources(0) == grid.destinations(0) == (PROC_NULL, 3, 2, 1)
    assert CartTopology.of((1, 2), (1, 1)).sources(1) == (1, 1, 0, 0)
    assert CartTopology.of((), ()).sources(0) == ()


@given(grids(), st.data())
def test_slices_are_grids_and_partition_the_ranks(grid: CartTopology, data: st.DataObject) -> None:
    """Each has the shape of the remaining dimensions, with ranks in the order of the whole."""
    remain = [data.draw(st.booleans()) for _ in grid.dims]
    slices, part = grid.slices(remain), grid.sub(remain)
    assert sorted(rank for ranks in slices.values() for rank in ranks) == list(range(grid.size))
    for place, ranks in slices.items():
        assert len(ranks) == part.size
        for new, rank in enumerate(ranks):
            assert grid.slice_of(rank, remain) == place
            kept = [at for at, stays in zip(grid.coords(rank), remain, strict=True) if stays]
            assert part.coords(new) == kept


# -- graphs and records ----------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=6))
def test_the_index_of_a_graph_ends_the_edges_of_each_node(neighbors: list[list[int]]) -> None:
    """These are its neighbors, in both directions."""
    index = tuple(sum(map(len, neighbors[: node + 1])) for node in range(len(neighbors)))
    graph = GraphTopology.of(index, tuple(edge for edges in neighbors for edge in edges))
    assert graph.size == len(neighbors)
    assert [list(graph.sources(node)) for node in range(graph.size)] == neighbors
    assert [list(graph.destinations(node)) for node in range(graph.size)] == neighbors


def test_equal_topologies_are_one_object() -> None:
    """A thousand ranks share one graph."""
    assert GraphTopology.of((1, 2), (1, 0)) is GraphTopology.of((1, 2), (1, 0))
    assert CartTopology.of((2,), (1,)) is CartTopology.of((2,), (1,))
    assert CartTopology.of((2,), (1,)) != CartTopology.of((2,), (0,))
    topologies: list[object] = [CartTopology.of((2,), (1,)), GraphTopology.of((2,), (1,))]
    assert topologies[0] != topologies[1]


def test_topologies_are_immutable() -> None:
    """They are shared."""
    for topology in CartTopology.of((2,), (1,)), GraphTopology.of((0,), ()), DistGraphTopology((1,), (), None):
        with pytest.raises(AttributeError):
            topology.kind = 5  # type: ignore[misc]


def test_the_first_difference_of_two_records_is_returned() -> None:
    """Lengths before entries, part by part."""
    grid = CartTopology.of((2, 3), (0, 0))
    assert difference(grid, CartTopology.of((2, 3, 1), (0, 0, 0))) == ("the length of dims", 2, 3)
    assert difference(grid, CartTopology.of((2, 4), (0, 1))) == ("dims[1]", 3, 4)
    assert difference(grid, CartTopology.of((2, 3), (0, 1))) == ("periods[1]", 0, 1)


# -- Compute_dims ----------------------------------------------------------------------------------------------------

KNOWN = {
    (1, 0): [], (1, 3): [1, 1, 1], (6, 2): [3, 2], (7, 2): [7, 1], (12, 2): [4, 3], (12, 3): [3, 2, 2], (16, 4): [2] * 4,
    (36, 3): [4, 3, 3], (60, 2): [10, 6], (60, 3): [5, 4, 3], (100, 4): [5, 5, 2, 2], (1000, 3): [10, 10, 10],
    (65536, 3): [64, 32, 32], (2147483647, 2): [2147483647, 1], (42, 4): [7, 3, 2, 1],
    (360, 3): [10, 6, 6],  # as even as 9, 8, 5, and the smallest is larger
}  # fmt: skip


@for_each(("requested", "grid"), KNOWN.items())
def test_compute_dims_of_known_grids(requested: tuple[int, int], grid: list[int]) -> None:
    """They equal MPICH's."""
    assert Compute_dims(*requested) == grid


def factorings(number: int, count: int, most: int) -> Iterator[tuple[int, ...]]:
    """All non-increasing tuples of n factors."""
    if count == 0:
        if number == 1:
            yield ()
        return
    for factor in range(1, min(number, most) + 1):
        if number % factor == 0:
            yield from ((factor, *rest) for rest in factorings(number // factor, count - 1, factor))


@given(st.integers(1, 400), st.integers(1, 5))
def test_compute_dims_is_the_most_even_grid(nnodes: int, ndims: int) -> None:
    """The smallest difference of largest and smallest factor; then the largest smallest factor, the largest second smallest
    ...
    """
    grid = Compute_dims(nnodes, ndims)
    assert tuple(grid) == min(
        factorings(nnodes, ndims, nnodes), key=lambda dims: (dims[0] - dims[-1], [-extent for extent in reversed(dims)])
    )


@given(st.integers(1, 10**9), st.integers(1, 6))
def test_the_product_of_compute_dims_is_the_number_of_nodes(nnodes: int, ndims: int) -> None:
    """In non-increasing order, for any number."""
    grid = Compute_dims(nnodes, ndims)
    assert math.prod(grid) == nnodes
    assert grid == sorted(grid, reverse=True)
    assert Compute_dims(nnodes, [0] * ndims) == grid


@given(extents, st.integers(1, 1000), st.data())
def test_compute_dims_keeps_fixed_dims(fixed: list[int], free: int, data: st.DataObject) -> None:
    """The remaining dimensions are computed independently."""
    dims = data.draw(st.permutations([*fixed, 0, 0]))
    grid = Compute_dims(math.prod(fixed) * free, dims)
    assert [extent for extent, given in zip(grid, dims, strict=True) if given] == [extent for extent in dims if extent]
    assert [extent for extent, given in zip(grid, dims, strict=True) if not given] == Compute_dims(free, 2)


def test_compute_dims_takes_any_sequence_of_integers() -> None:
    """Arrays too; the argument is unchanged."""
    requested: Any = np.array([0, 3])
    assert Compute_dims(12, requested) == [4, 3]
    assert requested.tolist() == [0, 3]
    assert Compute_dims(12, (0, 0)) == Compute_dims(12, np.int64(2)) == Compute_dims(12.0, 2) == [4, 3]  # type: ignore[arg-type]
    assert Compute_dims(12, [2, 3]) == [2, 3]  # not all nodes are used: MPI allows it


@pytest.mark.parametrize(
    ("nnodes", "dims", "words", "code", "kind"),
    [
        (12, [0, 5], "12 nodes do not fill a grid of [0, 5]: 12 is not a multiple of 5.", ERR_DIMS, MPIError),
        (12, [4, 4], "12 nodes do not fill a grid of [4, 4]: 12 is not a multiple of 16.", ERR_DIMS, MPIError),
        (12, [0, -1], "dims[1] is -1, but must be positive or 0.", ERR_DIMS, MPIError),
        (12, -1, "the number of dims is -1.", ERR_DIMS, MPIValueError),
        (0, 2, "nnodes is 0; there must be at least 1.", ERR_ARG, MPIError),
        (-3, [0], "nnodes is -3; there must be at least 1.", ERR_ARG, MPIError),
        (12, [0, 1.5], "dims[1] is 1.5, not an integer.", ERR_ARG, MPITypeError),
        (12, {0}, "dims is {0}, not a sequence of integers.", ERR_ARG, MPITypeError),
        (12, None, "dims is None, not an integer.", ERR_ARG, MPITypeError),
        ("12", 2, "nnodes is '12', not an integer.", ERR_ARG, MPITypeError),
    ],
)
def test_compute_dims_names_invalid_arguments(nnodes: Any, dims: Any, words: str, code: int, kind: type[MPIError]) -> None:
    """With mpi4py's error classes; zero nodes hang MPICH, so they are rejected."""
    with pytest.raises(kind) as caught:
        Compute_dims(nnodes, dims)
    assert (str(caught.value), caught.value.Get_error_class()) == (f"Compute_dims: {words}", code)
