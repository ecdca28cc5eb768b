"""The makespan from an algorithm's schedule equals that of a run of its code, to the last bit."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from itertools import cycle
from typing import Any

import pytest

import fakempi
from collectives import CATALOGUE, Algorithm, Case, UnsupportedCaseError
from fakempi import Dragonfly, FatTree, Hockney, LogGP, Torus, TwoLevel
from fakempi.apps.compare.benchmark_loop import makespan
from fakempi.apps.compare.instants import makespan_by_instants
from fakempi.apps.compare.link_simulation import makespan_on_links
from fakempi.apps.compare.simulation import simulated_makespan
from fakempi.apps.compare.timing import as_called
from fakempi.extensions.fused.array_clocks import Undetermined
from fakempi.extensions.fused.programs import ScheduleArrays
from fakempi.tuning import Choice

COSTS = (
    Hockney(), Hockney(eager_limit=0), Hockney(t_s=1e-6, t_w=3e-9, eager_limit=16, compute_per_byte=1e-8), TwoLevel(3),
    TwoLevel(2, eager_limit=0, network_gap=None), Hockney(ports=2), Hockney(duplex=False), LogGP(), Hockney(t_s=8, t_w=1),
)  # fmt: skip
ROOTED = ("bcast", "reduce", "gather", "scatter", "gatherv", "scatterv")
INTRA = [each for each in CATALOGUE if each.kind == "intra"]


def case_of(algorithm: Algorithm, p: int) -> Case:
    """A case with blocks of several sizes, some of them empty, where the operation has them, and a root in the middle."""
    options: dict[str, Any] = {"m": 8 * (1 + p % 4)}
    if algorithm.operation in ("alltoallv", "alltoallw"):
        options = {"traffic": tuple(tuple((i + 2 * j) % 3 for j in range(p)) for i in range(p))}
    elif algorithm.operation.endswith("v") or algorithm.operation == "reduce_scatter":
        options = {"counts": tuple(i * 7 % 4 for i in range(p))}
    if algorithm.operation in ROOTED:
        options["root"] = p // 2 if algorithm.root is None else algorithm.root
    return Case(p, itemsize=8, **options)


@pytest.mark.quick(2)
@pytest.mark.parametrize("operation", sorted({each.operation for each in INTRA}))
def test_a_schedule_has_the_makespan_of_the_code(operation: str) -> None:
    """Every algorithm, on machines with one port and several, with links, eager messages and costs of combining."""
    simulated = 0
    for algorithm in (each for each in INTRA if each.operation == operation):
        for p, cost in zip(cycle((5, 8)), COSTS, strict=False):
            try:
                used, case = as_called(algorithm, ("intra", operation), case_of(algorithm, p), cost)
                used.check(case)
            except UnsupportedCaseError:
                continue
            seconds = simulated_makespan(used, case, cost)
            simulated += seconds is not None
            assert seconds in (None, makespan(used, case, cost)), (algorithm, p, cost)
    assert simulated >= len(COSTS)


LINKS = (
    TwoLevel(4), TwoLevel(5, eager_limit=0), TwoLevel(3, eager_limit=16, network_gap=1e-7), Torus((4, 4), ranks_per_node=2),
    Torus((2, 3, 4), eager_limit=0), Torus(12, ranks_per_node=2, t_s=0, t_hop=3e-7, eager_limit=64),
    FatTree((4, 6), t_hop=1e-5), Dragonfly(3, 2, 4, t_s=1e-8, t_hop=1e-6),
)  # fmt: skip


@pytest.mark.quick(1)
@pytest.mark.parametrize("operation", ["allgather", "alltoall", "bcast", "gather", "allgatherv", "scan", "reduce_scatter"])
def test_rounds_on_links_have_the_makespan_of_the_code(operation: str) -> None:
    """Messages queue for links and for input ports, eager messages arrive early, and others wait for their receives."""
    determined = 0
    for number, algorithm in enumerate(each for each in INTRA if each.operation == operation):
        for p, cost in zip((23, 12, 16, 24, 9, 17, 13, 22), LINKS[number % 8 :] + LINKS[: number % 8], strict=True):
            used, case = as_called(algorithm, ("intra", operation), case_of(algorithm, p), cost)
            names = {each.name for each in fields(case)} - {"p", "parameters"}
            arguments = {name: getattr(case, name) for name in names}
            try:
                used.check(case)
                schedule = ScheduleArrays(p, partial(Choice(used, case.parameters).phases, p, **arguments))
                found = makespan_on_links(schedule, cost)
            except (UnsupportedCaseError, Undetermined):
                continue
            determined += 1
            assert found == makespan(used, case, cost), (algorithm, p, cost)
    assert determined > 4


LEVELS = (
    TwoLevel(4), TwoLevel(5, eager_limit=0), TwoLevel(3, eager_limit=16, network_gap=1e-7),
    TwoLevel(8, inter=Hockney(t_s=1e-7, t_w=3e-8), intra=Hockney(t_s=1e-6, t_w=0.0)),
    TwoLevel(placement=[rank * 7 % 5 for rank in range(24)], inter=Hockney(t_s=0.0, t_w=1e-6), eager_limit=32),
)  # fmt: skip


@pytest.mark.quick(1)
@pytest.mark.parametrize("operation", ["allgather", "allreduce", "alltoallv", "bcast", "reduce_scatter", "barrier"])
def test_instants_in_arrays_have_the_makespan_of_single_messages(operation: str) -> None:
    """Messages queue for nodes and input ports, eager messages arrive early, and others wait for their receives."""
    determined = 0
    for number, algorithm in enumerate(each for each in INTRA if each.operation == operation):
        for p, cost in zip((23, 12, 16, 24, 9), LEVELS[number % 5 :] + LEVELS[: number % 5], strict=True):
            used, case = as_called(algorithm, ("intra", operation), case_of(algorithm, p), cost)
            names = {each.name for each in fields(case)} - {"p", "parameters"}
            arguments = {name: getattr(case, name) for name in names}
            try:
                used.check(case)
                schedule = ScheduleArrays(p, partial(Choice(used, case.parameters).phases, p, **arguments))
                found = makespan_by_instants(schedule, cost, fewest=0)
            except (UnsupportedCaseError, Undetermined):
                continue
            determined += 1
            assert found == makespan_on_links(schedule, cost), (algorithm, p, cost)
    assert determined > 4


def test_large_symmetric_cases_take_points_in_time_and_others_single_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schedule with few messages in a round, or at a time, is left to the simulation of single messages."""
    bruck, cost = next(each for each in INTRA if each.operation == "allgather" and each.name == "bruck"), TwoLevel(32)
    schedules = {p: ScheduleArrays(p, partial(Choice(bruck, {}).phases, p, m=8, commutative=True)) for p in (256, 1024)}
    assert makespan_by_instants(schedules[1024], cost) == makespan_on_links(schedules[1024], cost)
    with pytest.raises(Undetermined, match="few messages in a round"):
        makespan_by_instants(schedules[256], cost)
    monkeypatch.setattr("fakempi.apps.compare.instants.ALLOWED", -10_000)
    with pytest.raises(Undetermined, match="few messages move at a time"):
        makespan_by_instants(schedules[1024], cost)


def test_user_defined_cost_models_and_two_groups_run_the_code() -> None:
    """A user-defined model may return anything; no test compares schedules between groups step by step."""

    class Custom(Hockney):
        """A cost model of a user."""

    bcast = next(each for each in INTRA if each.operation == "bcast" and each.name == "binomial")
    between = next(each for each in CATALOGUE if each.kind == "inter" and each.operation == "bcast")
    assert simulated_makespan(bcast, Case(4, m=8), fakempi.Hockney()) is not None
    assert simulated_makespan(bcast, Case(4, m=8), Custom()) is None
    assert simulated_makespan(between, Case(4, m=8, q=2), Hockney()) is None
