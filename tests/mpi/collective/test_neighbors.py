"""Neighborhood collectives: on grids with and without periods, on graphs, on distributed graphs with parallel edges."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from fakempi import MPI
from tests.helpers.runs import run
from tests.mpi.collective.calls import nonblocking

Data = st.DataObject
Edges = list[list[int]]
"""By rank: the neighbors at the other end of its edges."""

Maker = Callable[[Any], Any]
WAYS: dict[str, Callable[..., Any]] = {
    "blocking": lambda comm, name, *args: getattr(comm, name)(*args),
    "nonblocking": lambda comm, name, *args: getattr(comm, nonblocking(name))(*args).Wait(),
    "persistent": lambda comm, name, *args: again(getattr(comm, f"{name}_init")(*args)),
}


def again(request: Any) -> None:
    """Start it twice."""
    for _ in range(2):
        request.Start()
        request.Wait()


def matched(sources: Edges, dests: Edges, across: bool) -> list[list[tuple[int, int] | None]]:
    """By rank and incoming edge: the source rank and its outgoing edge; None for PROC_NULL.

    In a grid the edge on one side leads to the edge on the other side; in a graph edges between two ranks match in order.
    """
    found: list[list[tuple[int, int] | None]] = []
    for rank, incoming in enumerate(sources):
        used: dict[int, int] = {}
        row: list[tuple[int, int] | None] = []
        for i, source in enumerate(incoming):
            if source < 0:
                row.append(None)
            elif across:
                row.append((source, i ^ 1))
            else:
                k = used[source] = used.get(source, -1) + 1
                row.append((source, [at for at, dest in enumerate(dests[source]) if dest == rank][k]))
        found.append(row)
    return found


def check(p: int, make: Maker, sources: Edges, dests: Edges, way: str, backend: Any = "auto", across: bool = False) -> None:
    """All exchanges along these edges deliver the right blocks."""
    call, pairs = WAYS[way], matched(sources, dests, across)

    def size(rank: int, edge: int) -> int:
        return (rank + 2 * edge) % 3

    def main(world: Any) -> Any:
        comm = make(world)
        rank = comm.rank
        here, out = pairs[rank], range(len(dests[rank]))
        assert (comm.inedges, comm.outedges) == (sources[rank], dests[rank])
        counts = [0 if pair is None else size(*pair) for pair in here]
        mine = np.array([rank, 10 * rank])
        one, all_v = np.full(2 * len(here), -1), np.full(sum(2 if pair else 0 for pair in here) + 1, -1)
        call(comm, "Neighbor_allgather", mine, one)
        call(comm, "Neighbor_allgatherv", mine, [all_v, [2 if pair else 0 for pair in here]])
        two, edge_v = np.full(len(here), -1), np.full(sum(counts), -1)
        call(comm, "Neighbor_alltoall", np.array([100 * rank + i for i in out], int), two)
        sent = [100 * rank + i for i in out for _ in range(size(rank, i))]
        call(comm, "Neighbor_alltoallv", [np.array(sent, int), [size(rank, i) for i in out]], [edge_v, counts])
        w, places = np.full(len(here), -1), [8 * i for i in range(len(here))][::-1]
        call(
            comm, "Neighbor_alltoallw",
            [np.array([100 * rank + i for i in out], int), [1] * len(out), [8 * i for i in out], [MPI.LONG] * len(out)],
            [w, [1] * len(here), places, [MPI.LONG] * len(here)],
        )  # fmt: skip
        objects = comm.neighbor_allgather({"rank": rank}), comm.neighbor_alltoall([f"{rank} {i}" for i in out])
        return one.tolist(), all_v.tolist(), two.tolist(), edge_v.tolist(), w.tolist()[::-1], *objects

    def expected(rank: int) -> Any:
        here = pairs[rank]
        blocks = [[-1, -1] if pair is None else [pair[0], 10 * pair[0]] for pair in here]
        numbers = [-1 if pair is None else 100 * pair[0] + pair[1] for pair in here]
        return (
            [number for block in blocks for number in block],
            [*(number for block, pair in zip(blocks, here, strict=True) if pair for number in block), -1],
            numbers,
            [100 * pair[0] + pair[1] for pair in here if pair for _ in range(size(*pair))],
            numbers,
            [None if pair is None else {"rank": pair[0]} for pair in here],
            [None if pair is None else f"{pair[0]} {pair[1]}" for pair in here],
        )

    assert run(main, p, backend) == [expected(rank) for rank in range(p)]


# -- grids ---------------------------------------------------------------------------------------------------------


def grid_edges(dims: list[int], periods: list[bool]) -> Edges:
    """The neighbors of each rank: the previous and the next one in each dimension."""
    places = list(product(*map(range, dims)))
    edges = []
    for place in places:
        row = []
        for axis, step in product(range(len(dims)), (-1, 1)):
            at = place[axis] + step
            inside = 0 <= at < dims[axis] or periods[axis]
            there = (*place[:axis], at % dims[axis], *place[axis + 1 :])
            row.append(places.index(there) if inside else MPI.PROC_NULL)
        edges.append(row)
    return edges


@pytest.mark.quick(1)
@pytest.mark.parametrize("way", WAYS)
@given(data=st.data(), dims=st.lists(st.integers(1, 4), min_size=1, max_size=3).filter(lambda dims: np.prod(dims) <= 12))
@settings(max_examples=8)
def test_grids(backend: Any, way: str, data: Data, dims: list[int]) -> None:
    """Any shape; beyond the edge is PROC_NULL, and in a ring of one or two the two sides are distinguished."""
    periods = data.draw(st.lists(st.booleans(), min_size=len(dims), max_size=len(dims)))
    edges = grid_edges(dims, periods)
    check(int(np.prod(dims)), lambda comm: comm.Create_cart(dims, periods), edges, edges, way, backend, across=True)


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (1, [[1, 0]]),
        (2, [[11, 10], [1, 0]]),
        (3, [[21, 10], [1, 20], [11, 0]]),
    ],
)
def test_in_a_ring_blocks_sent_left_arrive_from_the_right(p: int, expected: Any) -> None:
    """Even if left and right are the same rank, or this one: MPI 4.0, section 8.6."""

    def main(comm: Any) -> Any:
        ring, into = comm.Create_cart([p], [True]), np.full(2, -1)
        ring.Neighbor_alltoall(np.array([10 * comm.rank, 10 * comm.rank + 1]), into)
        return into.tolist()

    assert run(main, p) == expected


def test_on_the_edge_of_a_grid_the_block_is_unchanged() -> None:
    """No data arrives from PROC_NULL."""

    def main(comm: Any) -> Any:
        line, into = comm.Create_cart([3]), np.full(2, 7)
        line.Neighbor_allgather(np.array([comm.rank]), into)
        return into.tolist(), line.neighbor_allgather(comm.rank)

    assert run(main, 3) == [([7, 1], [None, 1]), ([0, 2], [0, 2]), ([1, 7], [1, None])]


def test_a_grid_without_dimensions_has_no_neighbors() -> None:
    """It exchanges nothing."""

    def main(comm: Any) -> Any:
        point = comm.Create_cart([])
        if point == MPI.COMM_NULL:
            return None
        point.Neighbor_alltoall(np.zeros(0), np.zeros(0))
        return point.neighbor_allgather(1), point.neighbor_alltoall([])

    assert run(main, 2) == [([], []), None]


# -- graphs --------------------------------------------------------------------------------------------------------


@given(data=st.data(), p=st.integers(1, 6), way=st.sampled_from(list(WAYS)))
def test_graphs(data: Data, p: int, way: str) -> None:
    """With parallel edges, and edges to the same rank (which occur twice)."""
    edges: Edges = [[] for _ in range(p)]
    for a, b in data.draw(st.lists(st.tuples(st.integers(0, p - 1), st.integers(0, p - 1)), max_size=8)):
        edges[a].append(b)
        edges[b].append(a)
    index = np.cumsum([len(row) for row in edges]).tolist()
    check(p, lambda comm: comm.Create_graph([0, *index], [edge for row in edges for edge in row]), edges, edges, way)


@given(data=st.data(), p=st.integers(1, 6), way=st.sampled_from(list(WAYS)))
def test_distributed_graphs(data: Data, p: int, way: str) -> None:
    """With parallel edges, which match in order, and edges to the same rank; each rank may list its edges in any order."""
    pairs = data.draw(st.lists(st.tuples(st.integers(0, p - 1), st.integers(0, p - 1)), max_size=12))
    dests = [data.draw(st.permutations([b for a, b in pairs if a == rank])) for rank in range(p)]
    sources = [data.draw(st.permutations([a for a, b in pairs if b == rank])) for rank in range(p)]
    check(p, lambda comm: comm.Create_dist_graph_adjacent(sources[comm.rank], dests[comm.rank]), sources, dests, way)


# -- memory --------------------------------------------------------------------------------------------------------


def test_blocks_with_holes_and_displacements() -> None:
    """On either side; the holes are unchanged."""

    def main(comm: Any) -> Any:
        ring = comm.Create_cart([comm.size], [True])
        spread = MPI.INT.Create_resized(0, 8).Commit()
        out, into = np.arange(4, dtype="i") + 10 * comm.rank, np.full(6, -1, "i")
        ring.Neighbor_alltoallv([out, [1, 1], [1, 0], spread], [into, [1, 1], [2, 0], spread])
        return into.tolist()

    assert run(main, 3) == [[12, -1, -1, -1, 20, -1], [22, -1, -1, -1, 0, -1], [2, -1, -1, -1, 10, -1]]


def test_phantoms_take_as_long_as_memory() -> None:
    """All neighbors at once, as far as ports allow."""
    cost = fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0)

    def main(comm: Any, ghost: bool) -> None:
        ring = comm.Create_cart([comm.size], [True])
        out, into = (fakempi.phantom(80), fakempi.phantom(160)) if ghost else (np.zeros(10), np.zeros(20))
        ring.Neighbor_allgather(out, into)

    ghosts, real = (fakempi.run(main, 6, ghost, cost=cost) for ghost in (True, False))
    assert ghosts.clocks == real.clocks
    assert 2 * (8 + 40) <= real.time <= 4 * (8 + 40)
    assert (real.messages, real.bytes) == (12, 960)
    assert fakempi.run(lambda comm: main(comm, False), 1, cost=cost).time == 2 * (8 + 40)


def test_nonblocking_calls_overlap_with_other_work_of_the_rank() -> None:
    """In modeled time."""

    def main(comm: Any) -> Any:
        ring, into = comm.Create_cart([comm.size], [True]), np.zeros(20)
        request = ring.Ineighbor_allgather(np.zeros(10), into)
        fakempi.compute(1000.0)
        request.Wait()
        return MPI.Wtime()

    assert run(main, 4, cost=fakempi.Hockney(t_s=8.0, t_w=0.5, eager_limit=0)) == [1000.0] * 4


# -- mistakes ------------------------------------------------------------------------------------------------------


UNEVEN: dict[str, tuple[Maker, Callable[[Any], Any], str]] = {
    "a longer block": (
        lambda comm: comm.Create_cart([2]),
        lambda line: line.Neighbor_allgather(np.zeros(1 + line.rank), np.zeros(2)),
        "Neighbor_allgather on rank 1: this rank sends 16 bytes to rank 0 (@), which expects 8 bytes (@).",
    ),
    "a shorter block": (
        lambda comm: comm.Create_cart([2]),
        lambda line: line.Neighbor_allgather(np.zeros(2), np.zeros(4 - 2 * line.rank)),
        "Neighbor_allgather on rank 1: this rank expects 8 bytes from rank 0 (@), which sends 16 bytes (@).",
    ),
    "sides confused": (
        lambda comm: comm.Create_cart([2], [True]),
        lambda ring: ring.Neighbor_alltoallv([np.zeros(3), [1, 2]], [np.zeros(3), [1, 2]]),
        "Neighbor_alltoallv on rank 1: this rank sends 16 bytes and 8 bytes to rank 0 (@), which expects 8 bytes and 16 "
        "bytes (@).",
    ),
    "an edge that only its source knows": (
        lambda comm: comm.Create_dist_graph_adjacent([], [1] if comm.rank == 0 else []),
        lambda graph: graph.neighbor_allgather(1),
        "neighbor_allgather on rank 1: this rank expects nothing from rank 0 (@), which sends an object (@).",
    ),
    "an edge that only its end knows": (
        lambda comm: comm.Create_dist_graph_adjacent([1] if comm.rank == 0 else [], []),
        lambda graph: graph.Neighbor_allgather(np.zeros(1), np.zeros(1 - graph.rank)),
        "Neighbor_allgather on rank 1: this rank sends nothing to rank 0 (@), which expects 8 bytes (@).",
    ),
    "an edge that only the last to come knows": (
        lambda comm: comm.Create_dist_graph_adjacent([0] if comm.rank == 1 else [], []),
        lambda graph: graph.Neighbor_allgather(np.zeros(1), np.zeros(graph.rank)),
        "Neighbor_allgather on rank 1: this rank expects 8 bytes from rank 0 (@), which sends nothing (@).",
    ),
    "a graph with a one-way edge": (
        lambda comm: comm.Create_graph([1, 1], [1]),
        lambda graph: graph.neighbor_alltoall([5] * (1 - graph.rank)),
        "neighbor_alltoall on rank 1: this rank sends nothing to rank 0 (@), which expects an object (@).",
    ),
    "another call": (
        lambda comm: comm.Create_cart([2]),
        lambda line: line.neighbor_allgather(1) if line.rank else line.Barrier(),
        "neighbor_allgather on rank 1: this rank calls neighbor_allgather at @, but rank 0 of the same communicator called "
        "Barrier at @: all ranks must make the same collective calls in the same order.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", UNEVEN)
def test_both_ends_of_an_edge_must_agree(what: str) -> None:
    """Sizes that differ, and edges that only one end knows of: the error names both calls, and no rank blocks forever."""
    make, call, words = UNEVEN[what]

    def main(comm: Any) -> None:
        topology = make(comm)
        fakempi.compute(comm.rank)  # so that rank 1 calls last
        call(topology)

    with pytest.raises(fakempi.RankError) as caught:
        run(main, 2)
    error = caught.value.__cause__
    assert isinstance(error, MPI.Exception)
    assert error.Get_error_class() == MPI.ERR_NOT_SAME
    assert re.sub(r"test_neighbors\.py:\d+", "@", str(error)) == words


def test_invalid_arguments_are_rejected() -> None:
    """Before any message is sent."""

    def main(comm: Any) -> None:
        ring = comm.Create_cart([1], [True])
        with pytest.raises(ValueError, match="^neighbor_alltoall on rank 0: expecting 2 items, got 3.$"):
            ring.neighbor_alltoall([1, 2, 3])
        with pytest.raises(ValueError, match="not a multiple of the required 2 blocks"):
            ring.Neighbor_allgather(np.zeros(1), np.zeros(3))
        with pytest.raises(TypeError, match="^Neighbor_allgather on rank 0: both buffers are required; IN_PLACE and"):
            ring.Neighbor_allgather(MPI.IN_PLACE, np.zeros(2))
        with pytest.raises(TypeError, match="^Ineighbor_alltoallw on rank 0: both buffers are required"):
            ring.Ineighbor_alltoallw(None, None)
        with pytest.raises(ValueError, match="expecting 2 counts, got 1"):
            ring.Neighbor_alltoallv([np.zeros(2), [1]], np.zeros(2))
        with pytest.raises(MPI.Exception, match="^Neighbor_alltoall on rank 0: the communicator is null"):
            MPI.Cartcomm().Neighbor_alltoall(np.zeros(2), np.zeros(2))

    run(main, 1)
