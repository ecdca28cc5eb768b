"""The claims agree with each other before anything runs: closed forms, schedules, the papers' table."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectives import CATALOGUE, Algorithm, Case, find
from collectives.catalogue.schedule import sent_by
from collectives.tools.numbers import ceil_log2
from collectives.verification.cases import REDUCING, some_cases
from collectives.verification.paper import breach, disagreement, unheard
from tests.collectives.cases import drawn_cases

SCHEDULED = [algorithm for algorithm in CATALOGUE if algorithm.schedule and algorithm.kind == "intra"]


def every(algorithm: Algorithm) -> str:
    return f"{algorithm.operation}-{algorithm.name}"


@pytest.mark.parametrize("algorithm", SCHEDULED, ids=every)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_closed_forms_say_what_the_schedule_says(algorithm: Algorithm, data: Any) -> None:
    """Exactly, in Fractions, with free combining and without."""
    case = data.draw(drawn_cases(algorithm))
    assert disagreement(algorithm, case) is None
    assert sent_by(algorithm.plan(case) or (), case.p - 1) == algorithm.sent(case, case.p - 1)


@pytest.mark.parametrize("algorithm", SCHEDULED, ids=every)
@pytest.mark.parametrize("p", [1, 2, 3, 4, 7, 8, 12])
def test_schedules_keep_to_the_model(algorithm: Algorithm, p: int) -> None:
    """In a round a rank sends at most once and receives at most once, never to itself, and never nothing."""
    for case in some_cases(algorithm, p):
        plan = list(algorithm.plan(case) or ())
        assert breach(plan, p) is None
        transfers = list(chain.from_iterable(plan))
        assert algorithm.operation == "barrier" or all(t.nbytes > 0 for t in transfers)
        assert algorithm.operation in REDUCING or not any(t.combined for t in transfers)


@pytest.mark.parametrize("algorithm", [a for a in SCHEDULED if a.operation in REDUCING], ids=every)
@pytest.mark.parametrize("p", [1, 2, 3, 4, 7, 8, 12])
def test_a_reduction_combines_every_operand(algorithm: Algorithm, p: int) -> None:
    """Each element of the result takes p-1 combinations; reduces and reduce_scatters do no more than that."""
    for case in some_cases(algorithm, p):
        combined = sum(t.combined for transfers in algorithm.plan(case) or () for t in transfers)
        blocks = algorithm.operation.startswith("reduce_scatter")
        elements = case.layout.size(0, p) if blocks else case.elements
        least = max(0, p - (2 if algorithm.operation == "exscan" else 1)) * elements * case.itemsize
        assert combined >= least
        assert combined == least or (algorithm.operation, algorithm.name) in (
            ("allreduce", "recursive_doubling"),
            ("scan", "recursive_doubling"),
            ("exscan", "recursive_doubling"),
        )


@pytest.mark.parametrize("algorithm", [a for a in SCHEDULED if a.operation in REDUCING], ids=every)
def test_a_path_with_its_combining_is_only_claimed_together_with_its_time(algorithm: Algorithm) -> None:
    """Else a sum of parts would mix two paths."""
    for case in some_cases(algorithm, 7):
        closed = algorithm.closed_time(case, 1, 1) if algorithm.closed_time else None
        assert closed is not None or algorithm.closed_combined(case) is None


@pytest.mark.parametrize("algorithm", [a for a in SCHEDULED if a.operation == "barrier"], ids=every)
@pytest.mark.parametrize("p", [1, 2, 3, 4, 5, 8, 13, 16, 31])
def test_after_a_barrier_everybody_has_heard_of_everybody(algorithm: Algorithm, p: int) -> None:
    """Nobody leaves before all have arrived: news of each arrival reaches every rank."""
    assert unheard(list(algorithm.plan(Case(p)) or ()), p) is None


@pytest.mark.parametrize("d", range(6))
def test_the_table_of_closed_forms_comes_out(d: int) -> None:
    """shared/papers/NOTES.md, for p = 2^d."""
    p, m, t_s, t_w = 1 << d, 64, 10, 1
    case = Case(p, m)
    assert find("allgather", "ring").time(case, t_s, t_w) == (p - 1) * (t_s + m * t_w)
    assert find("allgather", "recursive_doubling").time(case, t_s, t_w) == d * t_s + (p - 1) * m * t_w
    assert find("gather", "binomial").time(case, t_s, t_w) == d * t_s + (p - 1) * m * t_w
    assert find("scatter", "binomial").time(case, t_s, t_w) == d * t_s + (p - 1) * m * t_w
    expected = (d + p - 1) * t_s + 2 * (p - 1) * m // p * t_w
    assert find("bcast", "scatter_ring_allgather").time(case, t_s, t_w) == expected
    broadcast = Case(p, counts=(m, *(0,) * (p - 1)))
    assert find("allgatherv", "ring").time(broadcast, t_s, t_w) == (p - 1) * (t_s + m * t_w)


@pytest.mark.parametrize("p", range(1, 70))
def test_the_table_holds_for_any_p(p: int) -> None:
    """Bruck, the binomial broadcast and, beyond the table, gather, scatter and the circulant broadcast."""
    m, t_s, t_w, rounds = 24, 10, 1, ceil_log2(p)
    case = Case(p, m)
    for operation, name in (("allgather", "bruck"), ("allgather", "circulant"), ("gather", "binomial")):
        assert find(operation, name).time(case, t_s, t_w) == rounds * t_s + (p - 1) * m * t_w
    assert find("bcast", "binomial").time(case, t_s, t_w) == rounds * (t_s + m * t_w)
    pipelined = Case(p, m, parameters={"segment_bytes": 4})
    assert find("bcast", "circulant").time(pipelined, t_s, t_w) == (5 + rounds) * (t_s + 4 * t_w) * (p > 1)


@pytest.mark.parametrize("p", range(2, 70))
def test_two_trees_fill_in_logarithmic_time(p: int) -> None:
    """At most n - 2 + 2 ceil(log2 p) rounds."""
    for n in (1, 2, 3, 8, 17):
        rounds = find("bcast", "two_tree").rounds(Case(p, n, parameters={"segment_bytes": 1}))
        assert rounds is not None
        assert rounds <= n - 2 + 2 * ceil_log2(p)


@pytest.mark.parametrize("d", range(1, 6))
def test_reductions_take_the_time_that_the_literature_says(d: int) -> None:
    """Thakur, Rabenseifner, Gropp 2005, for p = 2^d, with gamma = c."""
    p, m, t_s, t_w, c = 1 << d, 64 << d, 10, 1, 3
    case = Case(p, m)
    shared = m * (p - 1) // p
    assert find("reduce", "binomial").time(case, t_s, t_w, c) == d * (t_s + m * t_w + m * c)
    assert find("allreduce", "recursive_doubling").time(case, t_s, t_w, c) == d * (t_s + m * t_w + m * c)
    for operation in ("reduce", "allreduce"):
        expected = 2 * d * t_s + 2 * shared * t_w + shared * c
        assert find(operation, "rabenseifner").time(case, t_s, t_w, c) == expected
    expected = 2 * (p - 1) * t_s + 2 * shared * t_w + shared * c
    assert find("allreduce", "ring").time(case, t_s, t_w, c) == expected
    blocks = Case(p, m // p)
    halving = find("reduce_scatter_block", "recursive_halving")
    assert halving.time(blocks, t_s, t_w, c) == d * t_s + shared * (t_w + c)
    assert find("alltoall", "bruck").time(blocks, t_s, t_w) == d * (t_s + m // 2 * t_w)


def test_claims_of_a_thousand_ranks_are_quick() -> None:
    """Closed forms, where the schedule has a million messages."""
    rounds = [
        find("bcast", "scatter_ring_allgather").rounds(Case(1000, 12345)),
        find("allgatherv", "ring").rounds(Case(1000, counts=tuple(range(1000)))),
        find("allreduce", "ring").rounds(Case(1000, 12345)),
    ]
    assert rounds == [1009, 999, 1998]
