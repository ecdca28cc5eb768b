"""No algorithm of the catalogue is more than 1.25 times faster than the choice of the default table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Case, find
from collectives.catalogue.schedule import Seconds
from collectives.distributions import DISTRIBUTIONS
from collectives.trials.cases import UNSIZED, make_case
from fakempi.apps.compare.jobs import TimingJob
from fakempi.apps.compare.timing import CaseTime, as_called
from fakempi.core.network.models.hockney import Hockney
from fakempi.mpi.buffers.phantom import phantom

FASTER = 1.25
COSTS = [Hockney(t_s, 1e-9, eager_limit=0) for t_s in (1e-6, 2e-5)]
SIZES = [8, 2048, 65536, 1 << 20]
RANKS = [(2, 0), (3, 0), (8, 0), (13, 0), (32, 0)]
GROUPS = [(1, 1), (3, 1), (1, 13), (4, 4), (5, 3), (8, 2), (16, 16)]

WITHIN = ["barrier", "bcast", "gather", "scatter", "allgather", "reduce", "allreduce", "alltoall", "scan", "exscan"]
BETWEEN = ["barrier", "bcast", "gather", "scatter", "allgather", "reduce", "allreduce", "alltoall"]
SHARED = ["reduce_scatter_block", "reduce_scatter"]


def seconds_of(figure: CaseTime) -> Seconds:
    """The time of a case that the algorithm accepts."""
    assert figure.seconds is not None
    return figure.seconds


def cases(operation: str, places: list[tuple[int, int]], spreads: list[str]) -> Iterator[Case]:
    """Yield the cases of an operation."""
    for (p, q), nbytes, spread in product(places, [0] if operation in UNSIZED else SIZES, spreads):
        if not (q and operation in SHARED and nbytes * p % q):
            yield make_case(operation, p, q, nbytes, DISTRIBUTIONS[spread])


def check(kind: str, operation: str, places: list[tuple[int, int]], spreads: list[str]) -> None:
    """Compare the choice with all algorithms that claim a time, for both costs."""
    others = [each for each in CATALOGUE if (each.kind, each.operation) == (kind, operation) and "cluster" not in each.name]
    for cost, case in product(COSTS, cases(operation, places, spreads)):
        taken = TimingJob(None, case, cost, key=(kind, operation)).run()
        for each in others:
            roles = {"first": True} if "first" in each.parameters else {}
            algorithm, own = as_called(each, (kind, operation), replace(case, parameters=roles), cost)
            time = None if algorithm.why_unsupported(own) else algorithm.time(own, *cost.linear)  # type: ignore[misc]
            if time is not None:
                assert seconds_of(taken) <= FASTER * time, (case, cost, taken, each)


@pytest.mark.quick(1)
@pytest.mark.parametrize("operation", [*WITHIN, "reduce_scatter_block"])
def test_choices_within_a_group_are_nearly_optimal(operation: str) -> None:
    """Short and long messages, few and many ranks, powers of two and others."""
    check("intra", operation, RANKS, ["regular"])


@pytest.mark.quick(1)
@pytest.mark.parametrize("spread", sorted(DISTRIBUTIONS))
@pytest.mark.parametrize("operation", ["allgatherv", "reduce_scatter"])
def test_choices_for_unequal_blocks_are_nearly_optimal(operation: str, spread: str) -> None:
    """For operations in which all ranks know the sizes."""
    check("intra", operation, RANKS[1:], [spread])


@pytest.mark.quick(3)
@pytest.mark.parametrize("operation", [*BETWEEN, *SHARED])
def test_choices_between_groups_are_nearly_optimal(operation: str) -> None:
    """Groups of equal and different sizes, and groups of one rank."""
    check("inter", operation, GROUPS, ["regular"])


# -- allgather between groups ------------------------------------------------------------------------------------------


@given(p=st.integers(1, 40), q=st.integers(1, 40), k_a=st.integers(0, 3000), k_b=st.integers(0, 3000))
def test_an_allgather_between_groups_is_near_the_bound_for_all_sizes(p: int, q: int, k_a: int, k_b: int) -> None:
    """T <= M + k_A + k_B + p + q, without start-ups."""
    taken = TimingJob(None, Case(p, k_a, q=q, m_b=k_b), Hockney(0, 1, eager_limit=0), key=("inter", "allgather")).run()
    assert seconds_of(taken) <= max(p * k_a, q * k_b) + k_a + k_b + p + q


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "k_a", "k_b", "ratio"), [(2, 1, 1, 4.84), pytest.param(4, 1, 4, 6.68, marks=pytest.mark.sample)]
)
def test_plain_calls_reach_the_papers_ratios(setting: int, k_a: int, k_b: int, ratio: float) -> None:
    """Kang et al.'s settings 2 and 4 on 200 + 56 ranks, by inter.Allgather: compared with MPICH's root gathering."""
    unit = 60_000

    def program(comm: fakempi.MPI.Intracomm) -> None:
        in_a = comm.rank < 200
        local = comm.Split(0 if in_a else 1, comm.rank)
        assert isinstance(local, fakempi.MPI.Intracomm)
        inter = local.Create_intercomm(0, comm, 200 if in_a else 0)
        own, other = (k_a, 56 * k_b) if in_a else (k_b, 200 * k_a)
        inter.Allgather(phantom(own * unit), phantom(other * unit))

    cost = Hockney(1e-6, 1e-9, eager_limit=0)
    case = Case(200, k_a * unit, q=56, m_b=k_b * unit, parameters={"first": True})
    slow = TimingJob(find("allgather", "root_gathering_mpich", kind="inter"), case, cost, key=("inter", "allgather")).run()
    assert abs(seconds_of(slow) / fakempi.run(program, 256, cost=cost).time / ratio - 1) < 0.05
