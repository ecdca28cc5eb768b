"""Lower bounds on two-level machines: no algorithm of the catalogue is faster, and some are as fast."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectives import CATALOGUE, Algorithm, Case, find
from collectives.distributions import DISTRIBUTIONS
from collectives.trials.cases import PAIRED, UNEVEN, make_case
from fakempi import Hockney, TwoLevel
from fakempi.apps.compare.bounds import lower_bound
from fakempi.apps.compare.jobs import TimingJob
from fakempi.apps.compare.node_bounds import has_node_bound, node_bound
from fakempi.apps.compare.sweep import contenders, sweep
from tests.helpers.breadth import breadth, examples

WITHIN = [each for each in CATALOGUE if each.kind == "intra"]
TIMES = st.integers(0, 50)


@st.composite
def machines(draw: st.DrawFn) -> tuple[TwoLevel, int]:
    """A machine with integer costs, and its number of ranks, placed on up to 4 nodes in any order."""
    p = draw(st.integers(1, 9))
    placement = draw(st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=p, max_size=p))
    cost = TwoLevel(
        placement=placement,
        intra=Hockney(draw(TIMES), draw(st.integers(0, 3))),
        inter=Hockney(draw(TIMES), draw(st.integers(0, 3))),
        network_ports=draw(st.integers(1, 3)),
        network_gap=draw(st.sampled_from([0, 0, 2, None])),
        eager_limit=draw(st.sampled_from([0, 16, 1 << 30])),
    )
    return cost, p


@pytest.mark.quick(20)
@settings(max_examples=breadth(150, 2000), deadline=None)
@given(machines(), st.sampled_from(WITHIN), st.sampled_from([0, 4, 8, 24, 100]), st.sampled_from(sorted(DISTRIBUTIONS)))
def test_no_algorithm_is_faster_than_the_bound(
    machine: tuple[TwoLevel, int], algorithm: Algorithm, nbytes: int, spread: str
) -> None:
    """Any placement, any costs, one to three network ports, with and without buffering; all times are integers."""
    cost, p = machine
    operation = algorithm.operation
    distribution = DISTRIBUTIONS[spread if operation in (*UNEVEN, *PAIRED) else "regular"]
    case = make_case(operation, p, 0, nbytes, distribution, 4)
    if algorithm.why_unsupported(case):
        return
    time = TimingJob(algorithm, case, cost, key=("intra", operation), search=False).run().seconds
    assert time is None or time >= node_bound(operation, case, cost), (cost, case)


@settings(max_examples=examples(60))
@given(machines(), st.sampled_from(sorted({each.operation for each in WITHIN})), st.integers(0, 100))
def test_the_bound_is_at_least_that_of_a_flat_machine(machine: tuple[TwoLevel, int], operation: str, nbytes: int) -> None:
    """The flat machine has the smaller cost of each kind."""
    cost, p = machine
    case = make_case(operation, p, 0, nbytes)
    costs = zip(cost.intra.linear or (), cost.inter.linear or (), strict=True)
    assert node_bound(operation, case, cost) >= lower_bound(operation, case, *map(min, costs))


def test_pairs_of_ranks_on_all_nodes_reach_the_bound_of_the_ports() -> None:
    """In a bcast to one rank of another node, in a gather from it, and in an exchange of two nodes."""
    cost = TwoLevel(1, inter=Hockney(10, 2))
    for operation, name in [("bcast", "linear"), ("gather", "linear"), ("alltoall", "pairwise"), ("scan", "linear")]:
        case = Case(2, 100)
        assert TimingJob(find(operation, name), case, cost, key=("intra", operation)).run().seconds == 210
        assert node_bound(operation, case, cost) == 210


def test_start_ups_within_and_between_nodes_are_counted() -> None:
    """Two nodes: the ranks of the other node have the data after A, A + a, and two of them after A + 2 a."""
    for per_node, time in [(2, 11), (4, 12)]:
        cost, case = TwoLevel(per_node, intra=Hockney(1, 0), inter=Hockney(10, 0)), Case(2 * per_node, 1)
        assert TimingJob(find("bcast", "binomial"), case, cost, key=("intra", "bcast")).run().seconds == time
        assert node_bound("bcast", case, cost) == time
    assert node_bound("gatherv", make_case("gatherv", 4, 0, 1), cost) == 10  # blocks may be empty


def test_an_allreduce_sends_twice_the_operand_through_the_port_of_a_node() -> None:
    """Less the share of one node: 2 (N - 1) / N, for N nodes; two ports of a node halve it."""
    cost = TwoLevel(2, intra=Hockney(0, 0), inter=Hockney(7, 1))
    assert node_bound("allreduce", Case(6, 30), cost) == 7 + 40
    wide = TwoLevel(2, intra=Hockney(0, 0), inter=Hockney(7, 1), network_ports=2)
    assert node_bound("allreduce", Case(6, 30), wide) == 7 + 20


def test_a_comparison_prints_the_bound() -> None:
    """Not for classes that a user derives, whose messages may be faster."""
    cost = "two_level:ranks_per_node=2,intra.t_s=1,intra.t_w=0,inter.t_s=10,inter.t_w=1,eager_limit=0"
    [column] = sweep("alltoall", [4], [8], cost=cost, among=contenders("alltoall")).columns
    assert column.bound == 10 + 32
    assert min(column.times.values()) >= column.bound

    class Faster(TwoLevel):
        """Messages of any other cost."""

    assert has_node_bound(TwoLevel(2))
    assert not has_node_bound(Faster(2))
    assert not has_node_bound(TwoLevel(2, ports=2))
