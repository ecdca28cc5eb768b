"""The tuner chooses the fastest algorithm of the library, unless it is hardly faster than the library's own choice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from collectives import find
from collectives.catalogue.schedule import Transfer
from collectives.trials.cases import make_case
from fakempi.apps.compare.timing import emulated_time
from fakempi.apps.tune import tune
from fakempi.apps.tune.estimates import estimate, evaluated
from fakempi.apps.tune.targets import TARGETS
from fakempi.core.options import cost_model

MODEL = "hockney:eager_limit=0"
SOME = [8, 4096, 65536, 1 << 20]


def test_the_choice_is_the_fastest_algorithm() -> None:
    """By the claims of all candidates that fit."""
    rules = tune("openmpi", MODEL, [4, 6, 8], [8, 4096, 1 << 20], ["bcast", "allgather"])
    for point in rules.points:
        case = make_case(point.operation, point.p, 0, point.nbytes)
        times = []
        for each in TARGETS["openmpi"].candidates[point.operation]:
            tried = replace(case, parameters=each.parameters)
            if each.algorithm.why_unsupported(tried) is None:
                seconds = each.algorithm.time(tried, 1e-6, 1e-9)
                assert seconds is not None
                times.append(float(seconds))
        assert point.best_seconds == pytest.approx(min(*times, point.default_seconds))
        assert point.best_seconds <= point.default_seconds


def test_the_library_decides_where_the_gain_is_below_the_margin() -> None:
    """A gain of exactly the margin is not enough; where a rule is written, its gain is above the margin."""
    strict, lax = (
        tune("openmpi", MODEL, [4, 8], SOME, ["bcast", "reduce"], margin=each, commutative=True) for each in (0.4, 0.0)
    )
    assert sum(bool(point.pick.name) for point in strict.points) < sum(bool(point.pick.name) for point in lax.points)
    for point in strict.points:
        assert bool(point.pick.name) == (point.best_seconds < 0.6 * point.default_seconds)
        assert point.gain == (point.default_seconds / point.best_seconds if point.pick.name else 1)


def test_rules_at_the_tuned_cases_are_the_choices() -> None:
    """In the unit of the library: p times the block for an allgather."""
    for library in ("openmpi", "mpich"):
        rules = tune(library, MODEL, [2, 4, 8], [8, 1024, 65536], ["allgather", "allreduce", "alltoall"])
        for point in rules.points:
            size = rules.target.size(point.operation, point.p, point.nbytes)
            assert rules.pick(point.operation, point.p, size) == point.pick
            assert rules.pick(point.operation, 9, size).name == ""


def test_only_reductions_that_are_right_for_any_op_are_chosen_by_default() -> None:
    """A ring would combine operands of a noncommutative op in the wrong order."""
    allowed = {"allreduce": "basic_linear recursive_doubling rabenseifner", "reduce_scatter": ""}
    rules = tune("openmpi", MODEL, [4, 16], SOME, ["allreduce", "reduce", "reduce_scatter"])
    for point in rules.points:
        assert point.best.name in ("", *allowed.get(point.operation, "linear in-order_binary rabenseifner").split())
    assert any(point.pick.name for point in rules.points)


def test_mpich_has_rules_for_powers_of_two_and_for_other_numbers() -> None:
    """Recursive doubling needs a power of two, and MPICH does not check it."""
    rules = tune("mpich", "hockney:t_s=1e-6,t_w=0,eager_limit=0", [4], [8, 1 << 20], ["bcast", "allgather"])
    ranges = tune("mpich", MODEL, [4, 8], SOME, ["bcast"])
    assert {point.p for point in ranges.points} == {4, 5, 8}
    needing = {"recursive_doubling", "scatter_recursive_doubling_allgather"}
    for each in (rules, ranges):
        for rows in each.rows.values():
            for row in rows:
                if row.last != row.first:
                    assert not {cell.pick.name for cell in row.others} & needing


@pytest.mark.parametrize("text", [MODEL, "loggp:eager_limit=0", "two_level:ranks_per_node=2,eager_limit=0"])
@pytest.mark.parametrize(
    ("operation", "name"), [("bcast", "binomial"), ("allgather", "ring"), ("allreduce", "rabenseifner")]
)
def test_estimates_are_the_times_of_the_emulator(text: str, operation: str, name: str) -> None:
    """Where ports and links serve messages in the order of the schedule."""
    cost, case = cost_model(text), make_case(operation, 8, 0, 4096)
    schedule = find(operation, name).schedule_for(case)
    assert schedule is not None
    assert evaluated(schedule, 8, cost) == pytest.approx(float(emulated_time(find(operation, name), case, cost)), rel=1e-12)


def test_eager_messages_do_not_wait_for_their_receiver() -> None:
    """A rank that is late delays its own receive, and no other rank."""
    cost = cost_model("hockney:t_s=1,t_w=0")
    first, second, third = [Transfer(0, 1, 8)], [Transfer(1, 2, 8)], [Transfer(3, 2, 8)]
    assert evaluated([first, second, third], 4, cost) == 3
    assert evaluated([third, first, second], 4, cost) == 2


def test_linear_alltoall_is_estimated_like_spread() -> None:
    """The model does not distinguish them, so neither replaces the other."""
    case = make_case("alltoall", 7, 0, 1024)
    for text in (MODEL, "two_level:ranks_per_node=3"):
        cost = cost_model(text)
        assert estimate(find("alltoall", "linear"), case, cost) == estimate(find("alltoall", "spread"), case, cost)


def test_the_estimate_of_the_linear_alltoall_of_the_libraries_is_exact_without_eager_messages() -> None:
    """In both orders in which no two ranks send to the same one; `ascending`, of alltoallv, takes longer."""
    cost, linear = cost_model("hockney:t_s=3,t_w=1,eager_limit=0"), find("alltoall", "linear")
    for p in (*range(2, 9), 13, 16, 17, 33):
        case = make_case("alltoall", p, 0, 10)
        for order in ("right", "left"):
            ordered = replace(case, parameters={"order": order})
            assert estimate(linear, ordered, cost) == emulated_time(linear, ordered, cost) == (p - 1) * 13, (p, order)
