"""Neighborhood collectives where some ranks have no sources, no destinations, or neither: every form of every call."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import fakempi
from fakempi import MPI

EMPTY = np.empty(0)
CALLS = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
FORMS = ("plain", "count", "typed")


def forms_of(buf: Any, form: str, n: int, blocks: int, call: str) -> Any:
    """A buffer in one of its forms; the count is the common one also if there is no block."""
    if call == "alltoallw":
        return [buf, [n] * blocks, [8 * n * i for i in range(blocks)], [MPI.DOUBLE] * blocks]
    if form == "plain":
        return buf
    return [buf, n] if form == "count" else [buf, n, MPI.DOUBLE]


def invoke(comm: Any, call: str, way: str, sendbuf: Any, recvbuf: Any) -> None:
    """Blocking, nonblocking or persistent."""
    if way == "blocking":
        getattr(comm, f"Neighbor_{call}")(sendbuf, recvbuf)
    elif way == "nonblocking":
        getattr(comm, f"Ineighbor_{call}")(sendbuf, recvbuf).Wait()
    else:
        request = getattr(comm, f"Neighbor_{call}_init")(sendbuf, recvbuf)
        for _ in range(2):
            request.Start()
            request.Wait()
        request.Free()


def main(comm: Any, arcs: list[tuple[int, int]], n: int, forms: list[str]) -> None:
    """All calls along these arcs; each rank compares its blocks with those of its sources."""
    rank = comm.rank
    sources, dests = [a for a, b in arcs if b == rank], [b for a, b in arcs if a == rank]
    graph = comm.Create_dist_graph_adjacent(sources, dests)

    def block(source: int, dest: int) -> list[float]:
        return [100 * source + 10 * dest + i for i in range(n)]

    for call in CALLS:
        for way in ("blocking", "nonblocking", "persistent"):
            for form in forms:
                gathers = call.startswith("allgather")
                if gathers:
                    out = np.array(block(rank, 0), float) if dests else EMPTY
                else:
                    out = np.array([block(rank, dest) for dest in dests], float).reshape(-1)
                into = np.full(n * len(sources), -1.0)
                invoke(graph, call, way, forms_of(out, form, n, 1 if gathers else len(dests), call),
                       forms_of(into, form, n, len(sources), call))  # fmt: skip
                expected = [x for source in sources for x in block(source, 0 if gathers else rank)]
                assert into.tolist() == expected, (call, way, form)
    assert graph.neighbor_allgather(rank) == sources
    assert graph.neighbor_alltoall([(rank, dest) for dest in dests]) == [(source, rank) for source in sources]
    graph.Free()


def test_ranks_without_neighbors_pass_empty_buffers_with_the_common_count() -> None:
    """Random directed graphs, including graphs without arcs, with loops and with arcs in one direction only."""
    draw = random.Random(15)
    for case in range(12):
        p = draw.randint(1, 5)
        pairs = [(a, b) for a in range(p) for b in range(p)]
        arcs = draw.sample(pairs, draw.randint(0, min(len(pairs), p)) if case else 0)
        fakempi.run(main, p, arcs, draw.randint(1, 3), [FORMS[case % 3]])


def test_a_missing_buffer_is_rejected_as_in_mpi4py() -> None:
    """Also on a rank without neighbors."""

    def refused(comm: Any) -> None:
        graph = comm.Create_dist_graph_adjacent([], [])
        for call in ("Neighbor_alltoall", "Neighbor_allgather"):
            for buffers in (([None, 3, MPI.DOUBLE], [EMPTY, 3]), ([EMPTY, 3], [None, 3, MPI.DOUBLE])):
                with pytest.raises(ValueError, match=r"buffer is None but count is 3"):
                    getattr(graph, call)(*buffers)
            with pytest.raises(ValueError, match=r"negative"):
                getattr(graph, call)([EMPTY, -3], [EMPTY, 3])
        graph.Free()

    fakempi.run(refused, 2)


def test_a_periodic_grid_of_one_rank_is_its_own_neighbor() -> None:
    """Without periods it has two neighbors PROC_NULL, whose blocks are unchanged."""

    def grid(comm: Any, periodic: bool) -> Any:
        cart = comm.Create_cart([1], [periodic])
        into = np.full(4, -1.0)
        cart.Neighbor_alltoall([np.arange(4.0), 2], [into, 2])
        gathered = np.full(4, -1.0)
        cart.Neighbor_allgather([np.arange(2.0), 2], [gathered, 2])
        cart.Free()
        return into.tolist(), gathered.tolist()

    assert fakempi.run(grid, 1, True).returns == [([2, 3, 0, 1], [0, 1, 0, 1])]
    assert fakempi.run(grid, 1, False).returns == [([-1] * 4, [-1] * 4)]
