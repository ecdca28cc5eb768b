"""The claims agree with each other without a run: closed forms, schedules, the table from the papers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pytest

from collectives import CATALOGUE, Algorithm, Case, find
from collectives.catalogue.schedule import Combining, sent_by
from collectives.tools.numbers import ceil_log2
from collectives.verification.case_claims import disagreement, missing_dependency, model_violation
from collectives.verification.cases import REDUCING, some_cases
from tests.collectives.cases import sampled_cases
from tests.helpers.loops import for_each

SCHEDULED = [algorithm for algorithm in CATALOGUE if algorithm.schedule and algorithm.kind == "intra"]


def name_of(algorithm: Algorithm) -> str:
    return f"{algorithm.operation}-{algorithm.name}"


def separate_cases(algorithm: Algorithm, p: int) -> Iterator[Case]:
    """The cases on p ranks with separate buffers; in place, the messages are the same."""
    return (case for case in some_cases(algorithm, p) if not case.in_place)


@pytest.mark.quick(15)
@pytest.mark.parametrize("algorithm", SCHEDULED, ids=name_of)
def test_closed_forms_agree_with_the_schedule(algorithm: Algorithm) -> None:
    """Closed forms and schedule agree exactly, in Fractions, with free combining and without."""
    for case in sampled_cases(algorithm, 1, 2, 3, 8, 13, 22):
        assert disagreement(algorithm, case) is None
        plan = algorithm.schedule_for(case)
        assert plan is None or sent_by(plan, case.p - 1) == algorithm.sent(case, case.p - 1)


@pytest.mark.sample
@pytest.mark.slow
@for_each("algorithm", SCHEDULED)
@for_each("p", [1, 2, 7, 8])
def test_schedules_conform_to_the_model(algorithm: Algorithm, p: int) -> None:
    """In a round a rank sends at most once and receives at most once, never to itself, and never an empty message."""
    for case in separate_cases(algorithm, p):
        plan = list(algorithm.schedule_for(case) or ())
        assert model_violation(plan, p) is None
        transfers = list(chain.from_iterable(plan))
        has_tokens = algorithm.operation == "barrier" or algorithm.name == "linear_sync"
        assert has_tokens or all(t.nbytes > 0 for t in transfers)
        assert algorithm.operation in REDUCING or not any(t.combined for t in transfers)


@pytest.mark.sample
@pytest.mark.slow
@for_each("algorithm", [a for a in SCHEDULED if a.operation in REDUCING])
@for_each("p", [1, 2, 7, 8])
def test_a_reduction_combines_every_operand(algorithm: Algorithm, p: int) -> None:
    """Each element of the result needs p-1 combinations; reduces and reduce_scatters do exactly that many."""
    for case in separate_cases(algorithm, p):
        plan = algorithm.schedule_for(case)
        if plan is None:  # Trivance with two ports: the order of messages depends on timing
            continue
        combined = 0
        for transfers in plan:
            local = transfers.combined.values() if isinstance(transfers, Combining) else ()
            combined += sum(local, sum(t.combined for t in transfers))
        blocks = algorithm.operation.startswith("reduce_scatter")
        elements = case.layout.size(0, p) if blocks else case.elements
        least = max(0, p - (2 if algorithm.operation == "exscan" else 1)) * elements * case.itemsize
        assert combined >= least
        assert combined == least or (algorithm.operation, algorithm.name) in (
            ("allreduce", "recursive_doubling"),
            ("allreduce", "recursive_multiplying"),
            ("allreduce", "dual_root_pipelined"),
            ("allreduce", "two_level"),  # its outer part is recursive doubling
            ("scan", "recursive_doubling"),
            ("scan", "two_level"),
            ("scan", "doubly_pipelined_tree"),
            ("exscan", "doubly_pipelined_tree"),
            ("exscan", "recursive_doubling"),
            ("reduce_scatter", "recursive_doubling"),  # of vectors that contain all blocks not yet sent
            ("reduce_scatter_block", "recursive_doubling"),
        )


@for_each("algorithm", [a for a in SCHEDULED if a.operation in REDUCING])
def test_closed_combined_is_claimed_only_with_closed_time(algorithm: Algorithm) -> None:
    """Otherwise a sum over parts would mix two paths."""
    for case in some_cases(algorithm, 7):
        closed = algorithm.closed_time(case, 1, 1) if algorithm.closed_time else None
        assert closed is not None or algorithm.closed_combined(case) is None


@for_each("algorithm", [a for a in SCHEDULED if a.operation == "barrier"])
@for_each("p", [1, 2, 3, 4, 5, 8, 13, 16, 31])
def test_in_a_barrier_each_arrival_reaches_every_rank(algorithm: Algorithm, p: int) -> None:
    """No rank leaves before all have arrived: information about each arrival reaches every rank."""
    assert missing_dependency(list(algorithm.schedule_for(Case(p)) or ()), p) is None


@for_each("d", range(6))
def test_closed_forms_match_the_table(d: int) -> None:
    """The table in shared/papers/NOTES.md, for p = 2^d."""
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


@for_each("p", range(1, 70))
def test_closed_forms_match_the_table_for_any_p(p: int) -> None:
    """Bruck, the binomial broadcast and, beyond the table, gather, scatter and the circulant broadcast."""
    m, t_s, t_w, rounds = 24, 10, 1, ceil_log2(p)
    case = Case(p, m)
    for operation, name in (("allgather", "bruck"), ("allgather", "circulant"), ("gather", "binomial")):
        assert find(operation, name).time(case, t_s, t_w) == rounds * t_s + (p - 1) * m * t_w
    assert find("bcast", "binomial").time(case, t_s, t_w) == rounds * (t_s + m * t_w)
    pipelined = Case(p, m, parameters={"segment_bytes": 4})
    assert find("bcast", "circulant").time(pipelined, t_s, t_w) == (5 + rounds) * (t_s + 4 * t_w) * (p > 1)


@for_each("p", range(2, 70))
def test_two_trees_fill_in_logarithmic_time(p: int) -> None:
    """At most n - 2 + 2 ceil(log2 p) rounds."""
    for n in (1, 2, 3, 8, 17):
        rounds = find("bcast", "two_tree").rounds(Case(p, n, parameters={"segment_bytes": 1}))
        assert rounds is not None
        assert rounds <= n - 2 + 2 * ceil_log2(p)


@for_each("d", range(1, 6))
def test_reductions_take_the_published_time(d: int) -> None:
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


def test_claims_of_a_thousand_ranks_use_closed_forms() -> None:
    """Closed forms are used where the schedule has a million messages."""
    rounds = [
        find("bcast", "scatter_ring_allgather").rounds(Case(1000, 12345)),
        find("allgatherv", "ring").rounds(Case(1000, counts=tuple(range(1000)))),
        find("allreduce", "ring").rounds(Case(1000, 12345)),
    ]
    assert rounds == [1009, 999, 1998]


@pytest.mark.parametrize("name", ["bine", "swing"])
def test_an_odd_ring_has_the_rounds_of_the_even_ring_that_its_card_states(name: str) -> None:
    """Two more rounds than on p - 1 ranks, in each direction: fewer than from ceil(log2 p) if p - 1 is a power of two."""
    for operation, directions in (("allgather", 1), ("reduce_scatter_block", 1), ("allreduce", 2)):
        algorithm = find(operation, name)
        factor = "2 " * (directions == 2)
        stated = f"{factor}ceil(log2 p); {factor}ceil(log2 (p-1)) + {2 * directions} if p > 1 is odd"
        assert algorithm.card["Rounds"] == stated
        for p in range(2, 34):
            expected = ceil_log2(p - 1) + 2 if p % 2 else ceil_log2(p)
            assert algorithm.rounds(Case(p, 8 * p, itemsize=8)) == directions * expected
