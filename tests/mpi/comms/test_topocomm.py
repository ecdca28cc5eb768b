"""Communicators with a topology: creation, queries and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from tests.helpers.loops import for_each


def refusal(call: Callable[[], Any], kind: type[MPIError] = MPIError) -> tuple[int, str]:
    """The error class and message of a call that must fail."""
    with pytest.raises(kind) as caught:
        call()
    return caught.value.Get_error_class(), str(caught.value)


def on_one(call: Callable[[Any], Any]) -> Any:
    """Return the result of a call on the only rank of a run."""
    return fakempi.run(call, 1).returns[0]


# -- grids -----------------------------------------------------------------------------------------------------------


def test_a_grid_has_its_shape(backend: Any) -> None:
    """Dimensions, periods, and the coordinates of all ranks."""

    def main(comm: Any) -> Any:
        grid = comm.Create_cart([2, 3], periods=[False, True])
        assert type(grid) is MPI.Cartcomm
        assert (grid.Get_dim(), grid.dim, grid.ndim, grid.dims, grid.periods) == (2, 2, 2, [2, 3], [0, 1])
        assert grid.Get_topo() == grid.topo == ([2, 3], [0, 1], grid.coords)
        assert [grid.Get_coords(rank) for rank in range(6)] == [[i, j] for i in range(2) for j in range(3)]
        assert (grid.topology, grid.is_topo, comm.is_topo) == (MPI.CART, True, False)
        assert grid.Compare(comm) == MPI.CONGRUENT
        return grid.coords, grid.Get_cart_rank(grid.coords), grid.Get_cart_rank([grid.coords[0], grid.coords[1] - 3])

    returns = fakempi.run(main, 6, backend=backend).returns
    assert returns == [([rank // 3, rank % 3], rank, rank) for rank in range(6)]


def test_shifts_carry_messages_along_a_ring_and_off_the_edge(backend: Any) -> None:
    """Sendrecv with the results of Shift, in a dimension with a period and in one without."""

    def main(comm: Any) -> Any:
        grid = comm.Create_cart([2, 3], [False, True])
        got = []
        for direction in range(2):
            source, dest = grid.Shift(direction, 1)
            got.append(grid.sendrecv(grid.coords, dest=dest, source=source))
        return got

    returns = fakempi.run(main, 6, backend=backend).returns
    assert returns == [[[0, j] if i else None, [i, (j - 1) % 3]] for i in range(2) for j in range(3)]


def test_neighbors_of_a_grid() -> None:
    """Two per dimension, PROC_NULL at the edge."""

    def main(comm: Any) -> Any:
        grid = comm.Create_cart([2, 3], [False, True])
        assert grid.inoutedges == (grid.inedges, grid.outedges)
        assert grid.degrees == (grid.indegree, grid.outdegree) == (4, 4)
        assert MPI.Topocomm(grid).inedges == grid.inedges
        return grid.inedges, grid.outedges

    assert fakempi.run(main, 6).returns[4] == ([1, -1, 3, 5], [1, -1, 3, 5])


def test_ranks_without_a_position_get_a_null_grid() -> None:
    """The first ranks have positions."""

    def main(comm: Any) -> Any:
        grid = comm.Create_cart([2, 2], periods=True, reorder=True)
        if grid != MPI.COMM_NULL:
            return grid.size, grid.rank, grid.periods
        assert type(grid) is MPI.Cartcomm
        return refusal(grid.Get_dim)[0]

    assert fakempi.run(main, 6).returns == [(4, rank, [1, 1]) for rank in range(4)] + [MPI.ERR_COMM] * 2


def test_a_grid_without_dimensions_has_one_position() -> None:
    """It has no neighbors."""

    def main(comm: Any) -> Any:
        point = comm.Create_cart([])
        return point and (point.size, point.topo, point.Get_cart_rank([]), point.Get_coords(0), point.inoutedges)

    returns = fakempi.run(main, 2).returns
    assert returns[0] == (1, ([], [], []), 0, [], ([], []))
    assert returns[1] == MPI.COMM_NULL


def test_sub_divides_a_grid_into_rows_and_columns(backend: Any) -> None:
    """With their periods, and ranks in the order of the remaining coordinates."""

    def main(comm: Any) -> Any:
        grid = comm.Create_cart([2, 3], [False, True])
        row, column, point = grid.Sub([False, True]), grid.Sub([True, False]), grid.Sub([0, 0])
        assert (type(row), row.rank, column.rank) == (MPI.Cartcomm, grid.coords[1], grid.coords[0])
        assert (row.topo, column.topo) == (([3], [1], [row.rank]), ([2], [0], [column.rank]))
        assert (point.size, point.dims) == (1, [])
        source, dest = row.Shift(0, 1)
        return row.sendrecv(grid.rank, dest=dest, source=source)

    assert fakempi.run(main, 6, backend=backend).returns == [2, 0, 1, 5, 3, 4]


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.data())
def test_sub_groups_by_the_removed_coordinates(dims: list[int], data: st.DataObject) -> None:
    """Two ranks are in the same part if and only if these are equal."""
    remain = [data.draw(st.booleans()) for _ in dims]

    def main(comm: Any) -> Any:
        grid = comm.Create_cart(dims)
        part = grid.Sub(remain)
        assert part.dims == [extent for extent, stays in zip(dims, remain, strict=True) if stays]
        assert part.coords == [at for at, stays in zip(grid.coords, remain, strict=True) if stays]
        everywhere = [grid.Get_coords(rank) for rank in range(grid.size)]
        like_me = [
            rank
            for rank, place in enumerate(everywhere)
            if all(stays or at == mine for at, mine, stays in zip(place, grid.coords, remain, strict=True))
        ]
        return part.Get_group().Translate_ranks(None, grid.Get_group()) == like_me

    assert all(fakempi.run(main, int(np.prod(dims))).returns)


# -- graphs ----------------------------------------------------------------------------------------------------------

RING = [2, 4, 6, 8], [3, 1, 0, 2, 1, 3, 2, 0]


def test_a_graph_has_the_neighbors_of_all_ranks(backend: Any) -> None:
    """With its nodes and edges."""

    def main(comm: Any) -> Any:
        graph = comm.Create_graph(*RING)
        assert type(graph) is MPI.Graphcomm
        assert graph.Get_dims() == graph.dims == (graph.nnodes, graph.nedges) == (4, 8)
        assert graph.Get_topo() == graph.topo == (graph.index, graph.edges) == RING
        assert graph.neighbors == graph.Get_neighbors(graph.rank) == graph.inedges == graph.outedges
        assert graph.nneighbors == graph.Get_neighbors_count(graph.rank) == graph.indegree == graph.outdegree == 2
        return graph.Get_topology(), graph.neighbors, graph.Get_neighbors(3)

    returns = fakempi.run(main, 4, backend=backend).returns
    assert returns == [(MPI.GRAPH, [(rank - 1) % 4, (rank + 1) % 4], [2, 0]) for rank in range(4)]


def test_the_index_of_a_graph_may_begin_with_zero() -> None:
    """If it ends with the number of edges; edges beyond the index are ignored."""

    def main(comm: Any) -> Any:
        zero, more = comm.Create_graph([0, 1, 2], [1, 0]), comm.Create_graph([0, 1, 2], [1, 0, 0])
        return zero and zero.topo, more and more.topo

    returns = fakempi.run(main, 3).returns
    assert returns[:2] == [(([1, 2], [1, 0]), ([0, 1, 2], [1, 0]))] * 2
    assert returns[2] == (MPI.COMM_NULL, ([0, 1, 2], [1, 0]))


def test_a_graph_without_nodes_is_null_on_all_ranks() -> None:
    """All ranks get null handles."""
    assert on_one(lambda comm: comm.Create_graph([], [])) == MPI.COMM_NULL


# -- distributed graphs ----------------------------------------------------------------------------------------------


def test_every_rank_passes_its_own_edges(backend: Any) -> None:
    """It gets them back, in that order."""

    def main(comm: Any) -> Any:
        behind, ahead = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
        plain = comm.Create_dist_graph_adjacent([behind, comm.rank], [comm.rank, ahead])
        assert type(plain) is MPI.Distgraphcomm
        assert plain.inoutedges == ([behind, comm.rank], [comm.rank, ahead])
        assert plain.Get_dist_neighbors() == (*plain.inoutedges, None)
        heavy = comm.Create_dist_graph_adjacent([behind], [ahead], [behind + 10], [comm.rank + 10])
        assert heavy.Get_dist_neighbors() == ([behind], [ahead], ([behind + 10], [comm.rank + 10]))
        return plain.Get_dist_neighbors_count(), heavy.Get_dist_neighbors_count(), heavy.topology, heavy.degrees

    assert fakempi.run(main, 3, backend=backend).returns == [((2, 2, False), (1, 1, True), MPI.DIST_GRAPH, (1, 1))] * 3


def test_edges_are_ordered_by_the_rank_that_passed_them(backend: Any) -> None:
    """Real libraries return them in any order."""

    def main(comm: Any) -> Any:
        me, size = comm.rank, comm.size
        graph = comm.Create_dist_graph([(me + 1) % size, me], [1, 2], [0, me, 0], [me, 10 + me, 20 + me])
        return graph.Get_dist_neighbors()

    assert fakempi.run(main, 3, backend=backend).returns == [
        ([1, 0, 0, 2, 1, 0, 2], [0, 0, 0], ([0, 10, 20, 1, 21, 2, 22], [10, 20, 2])),
        ([1], [0, 1, 0], ([11], [0, 11, 21])),
        ([2], [0, 2, 0], ([12], [1, 12, 22])),
    ]


def test_one_rank_may_pass_the_whole_graph() -> None:
    """Others pass nothing; the ranks that pass edges determine whether there are weights."""

    def main(comm: Any, weights: Any, nothing: Any) -> Any:
        if comm.rank == 0:
            graph = comm.Create_dist_graph([0, 1, 2], [1, 1, 1], [1, 2, 0], weights)
        else:
            graph = comm.Create_dist_graph([], [], [], nothing)
        return graph.Get_dist_neighbors()

    nothings: list[Any] = [None, MPI.UNWEIGHTED, MPI.WEIGHTS_EMPTY, []]
    for nothing in nothings:
        heavy = fakempi.run(main, 3, [5, 6, 7], nothing).returns
        assert heavy == [([2], [1], ([7], [5])), ([0], [2], ([5], [6])), ([1], [0], ([6], [7]))]
        assert fakempi.run(main, 3, None, nothing).returns == [([2], [1], None), ([0], [2], None), ([1], [0], None)]


@pytest.mark.parametrize(
    ("weights", "weighted"), [(None, False), (MPI.UNWEIGHTED, False), (MPI.WEIGHTS_EMPTY, True), ([], True)]
)
def test_graphs_without_edges_have_weights_or_not(weights: Any, weighted: bool) -> None:
    """As the program specifies."""

    def main(comm: Any) -> Any:
        adjacent = comm.Create_dist_graph_adjacent(None, [], weights, weights)
        general = comm.Create_dist_graph([comm.rank], [0], [], weights)
        assert adjacent.Get_dist_neighbors() == general.Get_dist_neighbors() == ([], [], ([], []) if weighted else None)
        return adjacent.Get_dist_neighbors_count(), general.Get_dist_neighbors_count()

    assert fakempi.run(main, 2).returns == [((0, 0, weighted), (0, 0, weighted))] * 2


def test_edges_to_proc_null_are_kept() -> None:
    """As in MPICH: PROC_NULL has a block."""
    assert on_one(lambda comm: comm.Create_dist_graph_adjacent([MPI.PROC_NULL, 0], [0]).inedges) == [MPI.PROC_NULL, 0]


# -- handles ---------------------------------------------------------------------------------------------------------


def test_duplicates_keep_the_topology_and_splits_do_not() -> None:
    """Dup, Clone, Idup and a second handle; Split and Create."""

    def main(comm: Any) -> Any:
        ahead = (comm.rank + 1) % comm.size
        made = [comm.Create_cart([3]), comm.Create_graph([1, 2, 3], [1, 2, 0])]
        made.append(comm.Create_dist_graph([comm.rank], [1], [ahead]))
        for one in made:
            other, request = one.Idup()
            request.Wait()
            for copy in one.Dup(), one.Clone(), other, type(one)(one):
                assert (type(copy), copy.topology, copy.inoutedges) == (type(one), one.topology, one.inoutedges)
            assert one.Dup() != one
            assert type(one)(one) == one
            for plain in one.Split(), one.Create(one.Get_group()):
                assert (type(plain), plain.topology) == (MPI.Intracomm, MPI.UNDEFINED)
            assert MPI.Intracomm(one).topology == one.topology
            one.Free()
            assert refusal(lambda one=one: one.inedges)[0] == MPI.ERR_COMM  # type: ignore[misc]

    fakempi.run(main, 3)


def test_grids_can_be_created_from_grids_and_from_the_world() -> None:
    """From COMM_WORLD by name, from a Cartcomm, from COMM_SELF."""

    def main(comm: Any) -> Any:
        line = MPI.COMM_WORLD.Create_cart([4]).Create_cart([2, 2]).Create_graph([1, 2], [1, 0])
        alone = MPI.COMM_SELF.Create_cart([1], [True])
        return line and line.topo, alone.Shift(0, 5)

    returns = fakempi.run(main, 4).returns
    assert returns == [(([1, 2], [1, 0]), (0, 0))] * 2 + [(MPI.COMM_NULL, (0, 0))] * 2


def test_a_handle_of_the_wrong_kind_is_rejected() -> None:
    """As in mpi4py, a TypeError; null handles of every kind are accepted."""

    def main(comm: Any) -> Any:
        grid, graph = comm.Create_cart([1]), comm.Create_graph([1], [0])
        words = [
            refusal(lambda kind=kind, one=one: kind(one), MPITypeError)  # type: ignore[misc]
            for kind, one in [(MPI.Topocomm, comm), (MPI.Cartcomm, graph), (MPI.Graphcomm, grid), (MPI.Distgraphcomm, grid)]
        ]
        assert all(kind() == MPI.COMM_NULL for kind in (MPI.Topocomm, MPI.Cartcomm, MPI.Graphcomm, MPI.Distgraphcomm))
        return words

    expected = ["topology communicator, but its topology is UNDEFINED", "Cartesian communicator, but its topology is GRAPH",
                "general graph communicator, but its topology is CART",
                "distributed graph communicator, but its topology is CART"]  # fmt: skip
    kinds = "Topocomm", "Cartcomm", "Graphcomm", "Distgraphcomm"
    assert on_one(main) == [
        (MPI.ERR_TOPOLOGY, f"{kind} on rank 0: expecting a {words}.") for kind, words in zip(kinds, expected, strict=True)
    ]


def test_creating_a_topology_takes_no_modeled_time() -> None:
    """It sends no messages."""
    run = fakempi.run(lambda comm: comm.Create_cart([2, 2]).Sub([True, False]).rank, 4)
    assert (run.time, run.messages) == (0, 0)


def test_all_ranks_share_a_grid() -> None:
    """A thousand handles, one record."""
    returns = fakempi.run(lambda comm: comm.Create_cart([10, 20]), 200).returns
    assert len({id(grid._property("topology")) for grid in returns}) == 1


def test_maps_keep_ranks() -> None:
    """Ranks beyond the last position get COMM_NULL."""

    def main(comm: Any) -> Any:
        graphs = comm.Graph_map([1, 2], [1, 0]), comm.Graph_map([0, 1], [0])
        return comm.Cart_map([2, 1], [True, False]), *graphs, comm.Cart_map([])

    none = MPI.UNDEFINED
    assert fakempi.run(main, 3).returns == [(0, 0, 0, 0), (1, 1, none, none), (none, none, none, none)]


# -- errors ------------------------------------------------------------------------------------------------------------

REFUSED: list[tuple[Callable[[Any], Any], int, type[MPIError], str]] = [
    (lambda c: c.Create_cart([2, 2]), MPI.ERR_ARG, MPIError,
     "Create_cart on rank 0: a grid of [2, 2] has 4 positions, but the communicator has 1 rank."),
    (lambda c: c.Cart_map([3]), MPI.ERR_DIMS, MPIError,
     "Cart_map on rank 0: a grid of [3] has 3 positions, but the communicator has 1 rank."),
    (lambda c: c.Create_cart([1, 0]), MPI.ERR_DIMS, MPIError,
     "Create_cart on rank 0: dims[1] is 0; a dimension has at least 1 position."),
    (lambda c: c.Create_cart([1, 1], [True]), MPI.ERR_ARG, MPIValueError,
     "Create_cart on rank 0: expecting 2 periods, got 1."),
    (lambda c: c.Create_cart(1), MPI.ERR_ARG, MPITypeError, "Create_cart on rank 0: dims is 1, not a sequence of integers."),
    (lambda c: c.Create_cart([1.0]), MPI.ERR_ARG, MPITypeError, "Create_cart on rank 0: dims[0] is 1.0, not an integer."),
    (lambda c: c.Create_cart([1]).Get_cart_rank([1]), MPI.ERR_ARG, MPIError,
     "Get_cart_rank on rank 0: coords[0] is 1, not in 0..0, and dimension 0 has no period."),
    (lambda c: c.Create_cart([1]).Get_cart_rank([]), MPI.ERR_ARG, MPIValueError,
     "Get_cart_rank on rank 0: expecting 1 coords, got 0."),
    (lambda c: c.Create_cart([1]).Get_coords(-1), MPI.ERR_RANK, MPIError,
     "Get_coords on rank 0: rank -1 is not in 0..0: the communicator has 1 rank."),
    (lambda c: c.Create_cart([1, 1]).Shift(2, 1), MPI.ERR_ARG, MPIError,
     "Shift on rank 0: direction is 2, but the grid has 2 dimensions, counted from 0."),
    (lambda c: c.Create_cart([]).Shift(0, 1), MPI.ERR_TOPOLOGY, MPIError,
     "Shift on rank 0: direction is 0, but the grid has 0 dimensions, counted from 0."),
    (lambda c: c.Create_cart([1]).Sub([1, 0]), MPI.ERR_ARG, MPIValueError, "Sub on rank 0: expecting 1 remain_dims, got 2."),
    (lambda c: c.Create_graph([1, 2], [0, 0]), MPI.ERR_ARG, MPIError,
     "Create_graph on rank 0: the graph has 2 nodes, but the communicator has 1 rank."),
    (lambda c: c.Create_graph([-1], [0]), MPI.ERR_ARG, MPIError,
     "Create_graph on rank 0: index[0] is -1, which is negative."),
    (lambda c: c.Create_graph([2], [0]), MPI.ERR_ARG, MPIValueError,
     "Create_graph on rank 0: the index ends with 2, but there are 1 edges."),
    (lambda c: c.Graph_map([1], [3]), MPI.ERR_ARG, MPIError, "Graph_map on rank 0: edges[0] is 3, not a node in 0..0."),
    (lambda c: c.Create_graph([1], [0]).Get_neighbors(1), MPI.ERR_RANK, MPIError,
     "Get_neighbors on rank 0: rank 1 is not in 0..0: the communicator has 1 rank."),
    (lambda c: c.Create_dist_graph_adjacent([1], []), MPI.ERR_RANK, MPIError,
     "Create_dist_graph_adjacent on rank 0: source 1 is not in 0..0: the communicator has 1 rank."),
    (lambda c: c.Create_dist_graph_adjacent([0], [0], [1]), MPI.ERR_TOPOLOGY, MPIError,
     "Create_dist_graph_adjacent on rank 0: there are sourceweights, but destweights is UNWEIGHTED."),
    (lambda c: c.Create_dist_graph_adjacent([0], [0], None, [1]), MPI.ERR_TOPOLOGY, MPIError,
     "Create_dist_graph_adjacent on rank 0: there are destweights, but sourceweights is UNWEIGHTED."),
    (lambda c: c.Create_dist_graph_adjacent([0], [0], [1, 2], [1]), MPI.ERR_ARG, MPIValueError,
     "Create_dist_graph_adjacent on rank 0: expecting 1 sourceweights, got 2."),
    (lambda c: c.Create_dist_graph_adjacent([0], [], MPI.WEIGHTS_EMPTY), MPI.ERR_ARG, MPIValueError,
     "Create_dist_graph_adjacent on rank 0: sourceweights is WEIGHTS_EMPTY, but there are 1 edges."),
    (lambda c: c.Create_dist_graph_adjacent([0], [0], 5, 5), MPI.ERR_ARG, MPITypeError,
     "Create_dist_graph_adjacent on rank 0: sourceweights is 5, not a sequence of integers."),
    (lambda c: c.Create_dist_graph([0], [1, 1], [0, 0]), MPI.ERR_ARG, MPIValueError,
     "Create_dist_graph on rank 0: expecting 1 degrees, got 2."),
    (lambda c: c.Create_dist_graph([0], [-1], []), MPI.ERR_ARG, MPIValueError,
     "Create_dist_graph on rank 0: degrees[0] is -1, which is negative."),
    (lambda c: c.Create_dist_graph([0], [2], [0]), MPI.ERR_ARG, MPIValueError,
     "Create_dist_graph on rank 0: expecting 2 destinations, got 1."),
    (lambda c: c.Create_dist_graph([0], [1], [-1]), MPI.ERR_RANK, MPIError,
     "Create_dist_graph on rank 0: destination -1 is not in 0..0: the communicator has 1 rank."),
]  # fmt: skip


@for_each(("call", "code", "kind", "words"), REFUSED)
def test_invalid_arguments_are_rejected(call: Callable[[Any], Any], code: int, kind: type[MPIError], words: str) -> None:
    """With mpi4py's error class, and the numbers."""
    assert on_one(lambda comm: refusal(lambda: call(comm), kind)) == (code, words)


def test_a_decreasing_index_is_rejected() -> None:
    """It needs two nodes."""
    words = "Create_graph on rank 1: index[1] is 1 after 2: the index must not decrease."
    returns = fakempi.run(lambda comm: refusal(lambda: comm.Create_graph([2, 1], [0, 1])), 2).returns
    assert returns[1] == (MPI.ERR_ARG, words)


@pytest.mark.parametrize(
    ("call", "code", "words"),
    [
        (lambda c: c.Create_cart([2, 2] if c.rank < 3 else [4, 1]), MPI.ERR_NOT_SAME,
         "Create_cart: dims[0] is 2 on rank 0 and 4 on rank 3, but all ranks must pass the same."),
        (lambda c: c.Create_cart([4], [c.rank == 2]), MPI.ERR_NOT_SAME,
         "Create_cart: periods[0] is 0 on rank 0 and 1 on rank 2, but all ranks must pass the same."),
        (lambda c: c.Create_graph([1, 2], [1, c.rank // 2]), MPI.ERR_NOT_SAME,
         "Create_graph: edges[1] is 0 on rank 0 and 1 on rank 2, but all ranks must pass the same."),
        (lambda c: c.Create_cart([2, 2]).Sub([True, c.rank != 1]), MPI.ERR_NOT_SAME,
         "Sub: remain_dims is [True, True] on rank 0 and [True, False] on rank 1, but all ranks must pass the same."),
        (lambda c: c.Create_dist_graph([0], [1], [1], [5] if c.rank == 2 else None), MPI.ERR_TOPOLOGY,
         "Create_dist_graph: the edges of rank 2 have weights and those of rank 0 have none."),
        (lambda c: c.Create_dist_graph([0], [1], [1], None if c.rank == 2 else [5]), MPI.ERR_TOPOLOGY,
         "Create_dist_graph: the edges of rank 0 have weights and those of rank 2 have none."),
    ],
    ids=["dims", "periods", "edges", "remain_dims", "some weights", "most weights"],
)  # fmt: skip
def test_all_ranks_get_the_error_of_a_disagreement(call: Callable[[Any], Any], code: int, words: str) -> None:
    """The error names both ranks, and no rank blocks."""
    assert fakempi.run(lambda comm: refusal(lambda: call(comm)), 4).returns == [(code, words)] * 4


def test_a_strict_run_compares_both_ends_of_every_edge() -> None:
    """Real libraries do not, so an ordinary run does not either."""

    def main(comm: Any) -> Any:
        return comm.Create_dist_graph_adjacent([MPI.PROC_NULL] if comm.rank else [1], [1 - comm.rank]).degrees

    assert fakempi.run(main, 2).returns == [(1, 1), (1, 1)]
    words = (
        "Create_dist_graph_adjacent: rank 0 has rank 1 among its destinations 1 times, "
        "but rank 1 has rank 0 among its sources 0 times."
    )
    strict = fakempi.run(lambda comm: refusal(lambda: main(comm)), 2, strict=True)
    assert strict.returns == [(MPI.ERR_TOPOLOGY, words)] * 2


def test_a_strict_run_accepts_consistent_graphs() -> None:
    """With edges to the same rank, and repeated ones."""

    def main(comm: Any) -> Any:
        behind, ahead = (comm.rank - 1) % 3, (comm.rank + 1) % 3
        edges = [behind, behind, comm.rank], [comm.rank, ahead, ahead]
        graph = comm.Create_dist_graph_adjacent(*edges)
        degrees = graph.degrees
        graph.Free()
        return degrees

    assert fakempi.run(main, 3, strict=True).returns == [(3, 3)] * 3


def test_errors_go_through_the_error_handler() -> None:
    """The communicator's."""

    def main(comm: Any) -> Any:
        grid, heard = comm.Create_cart([1]), []
        grid.Set_errhandler(MPI.Comm.Create_errhandler(lambda comm, code: heard.append(code)))
        refusal(lambda: grid.Get_cart_rank([7]))
        return heard

    assert on_one(main) == [MPI.ERR_ARG]
