"""Shrinking finds the smallest failing case, and every candidate is a valid case."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from collectives import Case, find
from collectives.verification.cases import both_ways
from collectives.verification.shrinking import candidates, possible, shrunk, weight
from collectives.verification.sort_and_split import SortCase, SplitCase
from tests.collectives.cases import drawn_cases
from tests.collectives.inter.cases import two_groups
from tests.helpers.breadth import examples


def test_ranks_shrink_first_then_bytes_then_other_values() -> None:
    """Only the properties that make the case fail remain."""
    case = Case(13, 61 * 8, root=7, itemsize=8, in_place=True, commutative=False, parameters={"segment_bytes": 3})
    assert shrunk(case, "reduce", lambda case: True) == Case(1)
    assert shrunk(case, "reduce", lambda case: case.p >= 5) == Case(5)
    assert shrunk(case, "reduce", lambda case: case.m >= 6 and case.root > 0) == Case(2, 6, root=1)
    kept = shrunk(case, "reduce", lambda case: not case.commutative and bool(case.parameters))
    assert kept == Case(1, commutative=False, parameters={"segment_bytes": 3})


def test_counts_and_traffic_shrink() -> None:
    """Every count shrinks independently."""
    uneven = Case(4, counts=(5, 0, 9, 2), itemsize=4)
    assert shrunk(uneven, "allgatherv", lambda case: sum(case.counts or ()) > 3) == Case(1, counts=(4,))
    assert shrunk(uneven, "allgatherv", lambda case: 0 in (case.counts or ())[:-1]) == Case(2, counts=(0, 0))
    traffic = tuple(tuple(3 * r + s for s in range(4)) for r in range(4))
    assert shrunk(Case(4, traffic=traffic), "alltoallv", lambda case: case.traffic[-1][0] > 0) == Case(  # type: ignore[index]
        2, traffic=((0, 0), (1, 0))
    )


def test_both_groups_of_a_reduce_scatter_shrink_together() -> None:
    """Their totals stay equal, as MPI requires."""
    case = Case(4, counts=(6, 0, 0, 0), q=3, counts_b=(2, 2, 2))
    found = shrunk(case, "reduce_scatter", lambda case: case.p > 1 or case.q > 1)
    assert (found.p, found.q) == (1, 2)
    assert sum(found.counts or ()) == sum(found.counts_b or ())


def test_sorts_and_splits_lose_ranks() -> None:
    """The remaining ranks keep their order."""
    split = SplitCase(5, 25, colors=(1, 2, 1, 2, 1), keys=(0, 0, 0, 0, 0))
    assert shrunk(split, "split", lambda case: case.p > 2) == SplitCase(3, 25, colors=(1, 2, 1), keys=(0, 0, 0))
    sort = SortCase(4, 6, numbers=(9, 8, 7, 6), order=(3, 1, 0, 2))
    assert shrunk(sort, "sort", lambda case: case.p > 1) == SortCase(2, 6, numbers=(9, 8), order=(1, 0))


@given(data=st.data())
@settings(max_examples=examples(50), deadline=None)
def test_candidates_are_valid_cases_of_the_operation(data: Any) -> None:
    """Exchanges in place stay symmetric, and no candidate has more ranks."""
    for algorithm in (find("alltoallv", "pairwise"), find("reduce_scatter", "wmpi", kind="inter")):
        case = data.draw(two_groups(algorithm) if algorithm.kind == "inter" else drawn_cases(algorithm, largest_p=5))
        for candidate in candidates(case):
            assert candidate.ranks <= case.ranks
            if possible(algorithm.operation, candidate) and candidate.in_place:
                assert candidate.traffic == both_ways(candidate.traffic or ())
        assert weight(shrunk(case, algorithm.operation, lambda case: True)) <= weight(case)
