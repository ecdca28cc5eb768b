"""Broadcasts with different costs of sending: fastest node first, speed-partitioned ordered chain."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Algorithm, Case, UnsupportedCaseError, find
from collectives.intra.bcast.fastest_node_first import TREES as FASTEST_FIRST
from collectives.intra.bcast.speed_partitioned_ordered_chain import TREES as CHAINED
from collectives.patterns.ordered_tree import OrderedTree, send_down
from collectives.patterns.trees import children
from collectives.verification.intra_calls import check
from fakempi import CostModel, Hockney, TwoLevel, phantom
from fakempi.apps.compare.jobs import TimingJob
from fakempi.core.options import algorithms
from tests.helpers.breadth import examples

FNF, SPOC = find("bcast", "fastest_node_first"), find("bcast", "speed_partitioned_ordered_chain")
BINOMIAL = find("bcast", "binomial")
BOTH = [(FNF, FASTEST_FIRST), (SPOC, CHAINED)]

speeds = st.lists(st.integers(0, 12), min_size=1, max_size=10)


class Workstations(CostModel):
    """A sender of n bytes needs t_s + n t_w with its own t_s and t_w, and sender and receiver are busy for that time."""

    def __init__(self, costs: Any, eager_limit: int = 0) -> None:
        self.costs = [each if isinstance(each, tuple) else (each, 0) for each in costs]
        self.eager_limit = eager_limit

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Any, Any, Any]:
        t_s, t_w = self.costs[source]
        seconds = t_s + nbytes * t_w
        return seconds, seconds, seconds


def time_of(algorithm: Algorithm, machine: Workstations, root: int = 0, backend: Any = "auto", **parameters: Any) -> Any:
    """The time of a broadcast on this machine, with its result compared."""
    case = Case(len(machine.costs), 40, root=root, itemsize=8, parameters=parameters)

    def main(comm: Any) -> None:
        check(algorithm, comm, case)

    return fakempi.run(main, case.p, cost=machine, backend=backend).time


def in_binomial_order(p: int) -> OrderedTree:
    """The binomial tree from rank 0."""
    edges = sorted(((v, child) for v in range(p) for child in children(v, p)), key=lambda edge: (edge[0] - edge[1], edge))
    return OrderedTree(edges, p)


def every_tree(p: int) -> list[OrderedTree]:
    """All trees from rank 0 with all orders of serving, some of them more than once."""
    return [
        OrderedTree(zip(sources, order, strict=True), p)
        for order in permutations(range(1, p))
        for sources in product(*[(0, *order[:at]) for at in range(p - 1)])
    ]


# -- the modeled time is the claimed time -----------------------------------------------------------------------------


@pytest.mark.parametrize(("algorithm", "trees"), BOTH, ids=["fnf", "spoc"])
@given(costs=st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), min_size=1, max_size=9), data=st.data())
@settings(max_examples=examples(15), deadline=None)
def test_the_time_by_costs_is_that_of_the_emulator(algorithm: Algorithm, trees: Any, costs: Any, data: Any) -> None:
    """With t_s and t_w per rank, from any root, buffered or not, with exact numbers."""
    root, limit = data.draw(st.integers(0, len(costs) - 1)), data.draw(st.sampled_from([0, 1000]))
    costs = [(Fraction(t_s, 3), Fraction(t_w, 7)) for t_s, t_w in costs]
    claim = trees.time_by_costs(Case(len(costs), 40, root=root, itemsize=8, parameters={"costs": costs}))
    assert time_of(algorithm, Workstations(costs, limit), root, costs=costs) == claim


@pytest.mark.parametrize(("algorithm", "time"), [(FNF, 12), (SPOC, 27)], ids=["fnf", "spoc"])
def test_both_backends_give_the_same_time(algorithm: Algorithm, time: int, backend: Any) -> None:
    """With times per message; in the chain the slow root sends three times."""
    costs = (5, 1, 9, 1, 2, 7, 3)
    assert time_of(algorithm, Workstations(costs), 2, backend, costs=costs) == time


@pytest.mark.parametrize("algorithm", [FNF, SPOC], ids=repr)
@pytest.mark.parametrize("p", [1, 2, 5, 8, 13, 32])
def test_equal_costs_give_binomial_trees(algorithm: Algorithm, p: int) -> None:
    """Equal costs give the time of a binomial tree."""
    for costs in (1, 7, (3,) * p, [(2, 1)] * p):
        assert algorithm.time(Case(p, 40, parameters={"costs": costs}), 10, 1) == BINOMIAL.time(Case(p, 40), 10, 1)


# -- when they are faster ----------------------------------------------------------------------------------------------


@given(times=st.lists(st.integers(0, 12), min_size=1, max_size=5))
@settings(max_examples=examples(40), deadline=None)
def test_fastest_node_first_has_the_properties_that_khuller_and_kim_proved(times: list[int]) -> None:
    """No tree has a smaller sum of arrival times, and none ends in less than two thirds of its time."""
    case = Case(len(times), 1, parameters={"costs": times})
    arrivals = FASTEST_FIRST.of_case(case).arrivals(times)
    trees = [tree.arrivals(times) for tree in every_tree(len(times))]
    assert sum(arrivals) == min(map(sum, trees))
    assert 2 * max(arrivals) <= 3 * min(map(max, trees))


@given(times=speeds)
def test_no_rank_is_served_before_a_faster_one(times: list[int]) -> None:
    """In fastest node first."""
    arrivals = FASTEST_FIRST.of_case(Case(len(times), 1, parameters={"costs": times})).arrivals(times)
    served = sorted(range(1, len(times)), key=lambda rank: (times[rank], arrivals[rank]))
    assert [arrivals[rank] for rank in served] == sorted(arrivals[1:])


def test_slow_inner_ranks_delay_a_binomial_tree() -> None:
    """16 ranks, of which every fourth is 10 times slower."""
    costs = [10 if rank % 4 == 2 else 1 for rank in range(16)]
    machine = Workstations(costs)
    times = time_of(BINOMIAL, machine), time_of(SPOC, machine, costs=costs), time_of(FNF, machine, costs=costs)
    assert times[0] == max(in_binomial_order(16).arrivals(costs))
    assert times == (13, 4, 4)


def test_a_chain_helps_little_if_most_ranks_are_slow() -> None:
    """A slow rank early in the chain sends as often as a fast one; in fastest node first it is a leaf."""
    costs = [1, 1, *[10] * 14]
    machine = Workstations(costs)
    times = time_of(BINOMIAL, machine), time_of(SPOC, machine, costs=costs), time_of(FNF, machine, costs=costs)
    assert times == (31, 22, 8)


def test_they_do_not_help_if_links_are_slow_for_every_sender() -> None:
    """Six nodes of three: all ranks have equal costs; a tree that knows the nodes sends to each node once."""
    cost = TwoLevel(3, intra=Hockney(1, 0), inter=Hockney(10, 0), eager_limit=0)
    leaders = [(0, 3), (0, 6), (3, 9), (0, 12), (3, 15)]
    by_nodes = OrderedTree([*leaders, *((r - r % 3, r) for r in range(18) if r % 3)], 18)

    def time(selected: Any) -> Any:
        return fakempi.run(lambda comm: comm.Bcast(phantom(40)), 18, cost=cost, algorithms={"bcast": selected}).time

    assert [time(each.name) for each in (FNF, SPOC)] == [time((FNF.name, {"costs": 1}))] * 2 == [41, 41]
    assert fakempi.run(lambda comm: send_down(comm, phantom(40), by_nodes, 0), 18, cost=cost).time == 32


# -- invalid costs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", [FNF, SPOC], ids=repr)
@pytest.mark.parametrize(
    ("costs", "reason"),
    [
        ((1, 2), "costs has 2 entries, but p = 3"),
        (-1, "costs of rank 0 are -1, but must not be negative"),
        ((1, 2, float("nan")), "costs of rank 2 are nan, but must not be negative"),
        ((1, (2, -3), 1), r"costs of rank 1 are \(2, -3\), but must not be negative"),
        ((1, 1, (2, 3, 4)), r"costs of rank 2 are \(2, 3, 4\), but must be a number or a pair \(t_s, t_w\)"),
    ],
)
def test_invalid_costs_are_rejected(algorithm: Algorithm, costs: Any, reason: str) -> None:
    """The error is raised before any message is sent."""
    with pytest.raises(UnsupportedCaseError, match=f"^bcast {algorithm.name}: {reason}$"):
        algorithm.check(Case(3, parameters={"costs": costs}))
    with pytest.raises(fakempi.RankError, match=reason):
        time_of(algorithm, Workstations((1, 1, 1)), costs=costs)


# -- selected by name -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [FNF.name, SPOC.name])
def test_costs_come_from_the_machine(name: str, backend: Any) -> None:
    """Without `costs`, a call takes them from the cost model, on any communicator; explicit costs have precedence."""
    costs = [(9, 0), (1, 1), (30, 0), (1, 2), (5, 5), (30, 1), (2, 2), (1, 0)]

    def program(comm: fakempi.MPI.Intracomm) -> None:
        backwards = comm.Split(0, -comm.rank)
        backwards.Bcast(phantom(40), root=1)

    def time(selected: Any) -> Any:
        return fakempi.run(program, 8, cost=Workstations(costs), backend=backend, algorithms={"bcast": selected}).time

    assert time(name) == time((name, {"costs": costs[::-1]})) < time((name, {"costs": 1}))


def test_a_comparison_passes_the_same_costs_as_a_call() -> None:
    """A comparison also takes the costs from the cost model."""
    cost = Workstations([(9, 0), (1, 1), (30, 0), (1, 2), (5, 5)])

    def program(comm: fakempi.MPI.Intracomm) -> None:
        comm.Bcast(phantom(40))

    figure = TimingJob(FNF, Case(5, 40), cost, key=("intra", "bcast")).run()
    assert figure.claimed is None
    assert figure.emulated == fakempi.run(program, 5, cost=cost, algorithms={"bcast": FNF.name}).time


@pytest.mark.parametrize("text", ["[1,1,4]", "[[1,2],[3,4],5]", "0.5"])
def test_costs_can_be_given_as_text(text: str) -> None:
    """As lists of numbers and of pairs."""
    selected = algorithms(f"bcast=fastest_node_first(costs={text})")
    run = fakempi.run(lambda comm: comm.bcast(comm.rank, root=1), 3, algorithms=selected)
    assert run.returns == [1, 1, 1]
