"""Pipelined scans: exact rounds for any p, rank order, segments of different length, and the buffers of an exscan."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fakempi
from collectives import Case, find
from collectives.catalogue.schedule import elapsed, longest_chain
from collectives.patterns.prefixes.tree_places import edge_rounds, tree_place
from tests.helpers.loops import for_each

TREE, CHAIN = "doubly_pipelined_tree", "chain"
T_S, T_W = 1000, 1


@for_each("operation", ["scan", "exscan"])
@for_each("name", [TREE, CHAIN])
def test_rounds_and_times_of_the_schedule_have_the_closed_forms(operation: str, name: str) -> None:
    """Every p up to 66, one and several segments, all of the same length."""
    algorithm = find(operation, name)
    for p in range(1, 67):
        for n in (1, 4):
            case = Case(p, 24 * n, itemsize=8, parameters={"segment_bytes": 24})
            plan = list(algorithm.schedule_for(case) or ())
            assert algorithm.closed_time is not None
            assert longest_chain(plan, p) == algorithm.rounds(case)
            assert elapsed(plan, p, T_S, T_W) == algorithm.closed_time(case, T_S, T_W)


def test_the_first_segment_takes_about_four_rounds_per_level() -> None:
    """4 d - 4 rounds, up to two more if p is not a power of two; each further segment takes 3."""
    rounds = {p: find("scan", TREE).rounds(Case(p, 8)) for p in (2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 64, 1024)}
    assert rounds == {2: 1, 3: 2, 4: 4, 5: 4, 6: 5, 7: 6, 8: 8, 11: 8, 12: 9, 13: 10, 64: 20, 1024: 36}
    assert find("scan", TREE).rounds(Case(64, 80, parameters={"segment_bytes": 8})) == 20 + 9 * 3


@for_each("p", [*range(2, 20), 31, 32, 33, 100])
def test_subtrees_are_runs_of_ranks_and_all_edges_carry_what_is_needed(p: int) -> None:
    """Parents and children agree; sums arrive before they are passed on, and prefixes, too."""
    for rank in range(p):
        place = tree_place(rank, p)
        for child in (place.left, place.right):
            assert child is None or tree_place(child, p).parent == rank
        if place.left is not None and place.parent is not None:
            (arrived, _), (passed_on, prefix) = edge_rounds(place.left, p), edge_rounds(rank, p)
            assert arrived is not None
            assert passed_on is None or arrived < passed_on
            assert place.on_left_edge == (prefix is None)
        if place.right is not None:
            prefix = edge_rounds(place.right, p)[1]
            assert prefix is not None
            left = 0 if place.left is None else edge_rounds(place.left, p)[0] or 0
            assert prefix > left


def _program(comm: Any, count: int, in_place: bool) -> tuple[Any, Any]:
    """Multiply 2 x 2 matrices, which do not commute, modulo a prime."""

    def multiply(left: Any, right: Any, datatype: Any) -> None:
        a, b = (np.frombuffer(each, np.int64).reshape(-1, 2, 2) for each in (left, right))
        b[...] = a @ b % 1009

    op = fakempi.MPI.Op.Create(multiply, commute=False)
    own = (np.arange(4 * count, dtype=np.int64) * 7 + comm.rank * 3 + 1) % 1009
    matrix = fakempi.MPI.INT64_T.Create_contiguous(4).Commit()
    inclusive = own.copy() if in_place else np.zeros_like(own)
    comm.Scan(fakempi.MPI.IN_PLACE if in_place else [own, count, matrix], [inclusive, count, matrix], op)
    exclusive = own.copy() if in_place else np.full_like(own, -1)
    comm.Exscan(fakempi.MPI.IN_PLACE if in_place else [own, count, matrix], [exclusive, count, matrix], op)
    matrix.Free()
    op.Free()
    return inclusive.tolist(), exclusive.tolist()


@pytest.mark.parametrize("name", [TREE, CHAIN])
@for_each("p", [1, 2, 3, 6, 9, 16])
@for_each("count", [0, 1, 5])
@for_each("in_place", [False, True])
def test_operands_are_combined_in_rank_order(name: str, p: int, count: int, in_place: bool) -> None:
    """Segments of 2, 2 and 1 matrices; rank 0's buffer of an exscan is unchanged."""
    request = {each: (name, {"segment_bytes": 64}) for each in ("scan", "exscan")}
    found = fakempi.run(_program, p, count, in_place, algorithms=request, cost=fakempi.Hockney(eager_limit=0)).returns
    operands = [((np.arange(4 * count) * 7 + rank * 3 + 1) % 1009).reshape(-1, 2, 2) for rank in range(p)]
    so_far = operands[0]
    unchanged = operands[0] if in_place else np.full_like(operands[0], -1)
    assert found[0] == (so_far.ravel().tolist(), unchanged.ravel().tolist())
    for rank in range(1, p):
        before, so_far = so_far, so_far @ operands[rank] % 1009
        assert found[rank] == (so_far.ravel().tolist(), before.ravel().tolist())


@pytest.mark.parametrize("operation", ["scan", "exscan"])
def test_long_scans_are_pipelined_by_default(operation: str) -> None:
    """On 64 ranks, 64 bytes take as long as by recursive doubling, and 64 KiB less than 0.7 of that."""
    doubling = find(operation, "recursive_doubling")

    def program(comm: Any, elements: int) -> None:
        out = np.zeros(elements)
        (comm.Scan if operation == "scan" else comm.Exscan)(np.ones(elements), out)

    cost = fakempi.Hockney(1e-6, 1e-9, eager_limit=0)
    times = {elements: fakempi.run(program, 64, elements, cost=cost).time for elements in (8, 8192)}
    assert times[8] == pytest.approx(float(doubling.time(Case(64, 64), 1e-6, 1e-9) or 0))
    assert times[8192] < 0.7 * float(doubling.time(Case(64, 65536), 1e-6, 1e-9) or 0)
