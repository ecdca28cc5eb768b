"""Broadcasts where ranks take different times to send: fastest node first, speed-partitioned ordered chain."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Algorithm, Case, DoesNotFit, find
from collectives.intra.bcast.fastest_node_first import TREES as FASTEST_FIRST
from collectives.intra.bcast.speed_partitioned_ordered_chain import TREES as CHAINED
from collectives.shapes.ordered_tree import Tree, send_down
from collectives.shapes.trees import children
from collectives.verification.one_group import check
from fakempi import CostModel, Hockney, TwoLevel, phantom
from fakempi.compare.jobs import Job
from fakempi.options import algorithms

FNF, SPOC = find("bcast", "fastest_node_first"), find("bcast", "speed_partitioned_ordered_chain")
BINOMIAL = find("bcast", "binomial")
BOTH = [(FNF, FASTEST_FIRST), (SPOC, CHAINED)]

speeds = st.lists(st.integers(0, 12), min_size=1, max_size=10)


class Workstations(CostModel):
    """Whoever sends n bytes takes t_s + n t_w of its own, and so long both are busy."""

    def __init__(self, costs: Any, eager_limit: int = 0) -> None:
        self.costs = [each if isinstance(each, tuple) else (each, 0) for each in costs]
        self.eager_limit = eager_limit

    def transfer(self, source: int, dest: int, nbytes: int) -> tuple[Any, Any, Any]:
        t_s, t_w = self.costs[source]
        seconds = t_s + nbytes * t_w
        return seconds, seconds, seconds


def taken(algorithm: Algorithm, machine: Workstations, root: int = 0, carrier: str = "auto", **parameters: Any) -> Any:
    """The time of a checked broadcast there."""
    case = Case(len(machine.costs), 40, root=root, itemsize=8, parameters=parameters)

    def main(comm: Any) -> None:
        check(algorithm, comm, case)

    return fakempi.run(main, case.p, cost=machine, carrier=carrier).time


def in_binomial_order(p: int) -> Tree:
    """The binomial tree from rank 0."""
    edges = sorted(((v, child) for v in range(p) for child in children(v, p)), key=lambda edge: (edge[0] - edge[1], edge))
    return Tree(edges, p)


def every_tree(p: int) -> list[Tree]:
    """All trees from rank 0 with all orders of serving, some of them more than once."""
    return [
        Tree(zip(sources, order, strict=True), p)
        for order in permutations(range(1, p))
        for sources in product(*[(0, *order[:at]) for at in range(p - 1)])
    ]


# -- the modelled time is the claimed one ------------------------------------------------------------------------------


@pytest.mark.parametrize(("algorithm", "trees"), BOTH, ids=["fnf", "spoc"])
@given(costs=st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), min_size=1, max_size=9), data=st.data())
@settings(max_examples=15, deadline=None)
def test_the_time_by_costs_is_that_of_the_emulator(algorithm: Algorithm, trees: Any, costs: Any, data: Any) -> None:
    """By start-up and byte, from any root, buffered or not, with exact numbers."""
    root, limit = data.draw(st.integers(0, len(costs) - 1)), data.draw(st.sampled_from([0, 1000]))
    costs = [(Fraction(t_s, 3), Fraction(t_w, 7)) for t_s, t_w in costs]
    claim = trees.time_by_costs(Case(len(costs), 40, root=root, itemsize=8, parameters={"costs": costs}))
    assert taken(algorithm, Workstations(costs, limit), root, costs=costs) == claim


@pytest.mark.parametrize(("algorithm", "time"), [(FNF, 12), (SPOC, 27)], ids=["fnf", "spoc"])
def test_both_carriers_take_the_same(algorithm: Algorithm, time: int, carrier: str) -> None:
    """Times of messages in place of costs a byte; by the chain the root, which is slow, sends three times."""
    costs = (5, 1, 9, 1, 2, 7, 3)
    assert taken(algorithm, Workstations(costs), 2, carrier, costs=costs) == time


@pytest.mark.parametrize("algorithm", [FNF, SPOC], ids=repr)
@pytest.mark.parametrize("p", [1, 2, 5, 8, 13, 32])
def test_where_all_are_alike_both_are_binomial_trees(algorithm: Algorithm, p: int) -> None:
    """In time, whatever the costs are, as long as they are the same."""
    for costs in (1, 7, (3,) * p, [(2, 1)] * p):
        assert algorithm.time(Case(p, 40, parameters={"costs": costs}), 10, 1) == BINOMIAL.time(Case(p, 40), 10, 1)


# -- when they are faster, and when not --------------------------------------------------------------------------------


@given(times=st.lists(st.integers(0, 12), min_size=1, max_size=5))
@settings(max_examples=40, deadline=None)
def test_fastest_node_first_is_what_khuller_and_kim_proved(times: list[int]) -> None:
    """No tree has a smaller sum of arrival times, and none ends in less than two thirds of its time."""
    case = Case(len(times), 1, parameters={"costs": times})
    arrivals = FASTEST_FIRST.of_case(case).arrivals(times)
    trees = [tree.arrivals(times) for tree in every_tree(len(times))]
    assert sum(arrivals) == min(map(sum, trees))
    assert 2 * max(arrivals) <= 3 * min(map(max, trees))


@given(times=speeds)
def test_no_rank_is_served_before_a_faster_one(times: list[int]) -> None:
    """By fastest node first."""
    arrivals = FASTEST_FIRST.of_case(Case(len(times), 1, parameters={"costs": times})).arrivals(times)
    served = sorted(range(1, len(times)), key=lambda rank: (times[rank], arrivals[rank]))
    assert [arrivals[rank] for rank in served] == sorted(arrivals[1:])


def test_slow_ranks_in_the_way_hold_up_a_binomial_tree() -> None:
    """16 ranks, of which every fourth is 10 times slower."""
    costs = [10 if rank % 4 == 2 else 1 for rank in range(16)]
    machine = Workstations(costs)
    times = taken(BINOMIAL, machine), taken(SPOC, machine, costs=costs), taken(FNF, machine, costs=costs)
    assert times[0] == max(in_binomial_order(16).arrivals(costs))
    assert times == (13, 4, 4)


def test_a_chain_helps_little_where_most_are_slow() -> None:
    """A slow rank early in the chain sends as often as a fast one; fastest node first leaves it alone."""
    costs = [1, 1, *[10] * 14]
    machine = Workstations(costs)
    times = taken(BINOMIAL, machine), taken(SPOC, machine, costs=costs), taken(FNF, machine, costs=costs)
    assert times == (31, 22, 8)


def test_where_links_are_slow_whoever_sends_they_do_not_help() -> None:
    """Six nodes of three: all ranks are as fast, so nothing is known; a tree that knows the nodes leaves each but once."""
    cost = TwoLevel(3, intra=Hockney(1, 0), inter=Hockney(10, 0), eager_limit=0)
    leaders = [(0, 3), (0, 6), (3, 9), (0, 12), (3, 15)]
    by_nodes = Tree([*leaders, *((r - r % 3, r) for r in range(18) if r % 3)], 18)

    def time(asked: Any) -> Any:
        return fakempi.run(lambda comm: comm.Bcast(phantom(40)), 18, cost=cost, algorithms={"bcast": asked}).time

    assert [time(each.name) for each in (FNF, SPOC)] == [time((FNF.name, {"costs": 1}))] * 2 == [41, 41]
    assert fakempi.run(lambda comm: send_down(comm, phantom(40), by_nodes, 0), 18, cost=cost).time == 32


# -- what cannot be ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", [FNF, SPOC], ids=repr)
@pytest.mark.parametrize(
    ("costs", "reason"),
    [
        ((1, 2), "costs are those of 2 ranks, and p = 3"),
        (-1, "costs of rank 0 are -1, and must not be negative"),
        ((1, 2, float("nan")), "costs of rank 2 are nan, and must not be negative"),
        ((1, (2, -3), 1), r"costs of rank 1 are \(2, -3\), and must not be negative"),
        ((1, 1, (2, 3, 4)), r"costs of rank 2 are \(2, 3, 4\), and not one number or two"),
    ],
)
def test_costs_that_cannot_be_are_refused(algorithm: Algorithm, costs: Any, reason: str) -> None:
    """Before anything is sent."""
    with pytest.raises(DoesNotFit, match=f"^bcast {algorithm.name}: {reason}$"):
        algorithm.check(Case(3, parameters={"costs": costs}))
    with pytest.raises(fakempi.RankError, match=reason):
        taken(algorithm, Workstations((1, 1, 1)), costs=costs)


# -- asked for by name -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [FNF.name, SPOC.name])
def test_costs_come_from_the_machine(name: str, carrier: str) -> None:
    """Asked for without them, a call knows what its ranks take to send, on any communicator; what is given counts."""
    costs = [(9, 0), (1, 1), (30, 0), (1, 2), (5, 5), (30, 1), (2, 2), (1, 0)]

    def program(comm: fakempi.MPI.Intracomm) -> None:
        backwards = comm.Split(0, -comm.rank)
        backwards.Bcast(phantom(40), root=1)

    def time(asked: Any) -> Any:
        return fakempi.run(program, 8, cost=Workstations(costs), carrier=carrier, algorithms={"bcast": asked}).time

    assert time(name) == time((name, {"costs": costs[::-1]})) < time((name, {"costs": 1}))


def test_a_comparison_gives_what_a_call_gets() -> None:
    """Costs of the machine here as well."""
    cost = Workstations([(9, 0), (1, 1), (30, 0), (1, 2), (5, 5)])

    def program(comm: fakempi.MPI.Intracomm) -> None:
        comm.Bcast(phantom(40))

    figure = Job(FNF, Case(5, 40), cost, key=("intra", "bcast")).do()
    assert figure.claimed is None
    assert figure.measured == fakempi.run(program, 5, cost=cost, algorithms={"bcast": FNF.name}).time


@pytest.mark.parametrize("words", ["[1,1,4]", "[[1,2],[3,4],5]", "0.5"])
def test_costs_may_be_typed(words: str) -> None:
    """As lists of numbers and of pairs."""
    asked = algorithms(f"bcast=fastest_node_first(costs={words})")
    run = fakempi.run(lambda comm: comm.bcast(comm.rank, root=1), 3, algorithms=asked)
    assert run.returns == [1, 1, 1]
