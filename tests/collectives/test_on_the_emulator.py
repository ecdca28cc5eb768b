"""Results and claims on the emulator: every algorithm, Hypothesis-drawn cases, compared exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectives import CATALOGUE, Algorithm
from tests.collectives.cases import drawn_cases
from tests.collectives.checks import check, run_phantom
from tests.collectives.ops import ops_of

fakempi = pytest.importorskip("fakempi")
INTRA = [algorithm for algorithm in CATALOGUE if algorithm.kind == "intra"]
# Powers of two, so that sums of them are exact in floating point.
T_S, T_W, C = 8.0, 0.5, 0.25


def every(algorithm: Algorithm) -> str:
    return f"{algorithm.operation}-{algorithm.name}"


@pytest.mark.parametrize("algorithm", INTRA, ids=every)
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_results_and_claims(algorithm: Algorithm, data: Any) -> None:
    """numpy's answer, in exactly the claimed time, with exactly the claimed bytes; phantoms take as long."""
    case = data.draw(drawn_cases(algorithm))

    def main(comm: Any) -> None:
        check(algorithm, comm, case, ops_of(fakempi.MPI))

    def ghost(comm: Any) -> None:
        def phantom(size: int, itemsize: int) -> Any:
            return fakempi.phantom(size * itemsize, itemsize)

        run_phantom(algorithm, comm, case, phantom, ops_of(fakempi.MPI))

    for c in (0.0, C):
        cost = fakempi.Hockney(t_s=T_S, t_w=T_W, eager_limit=0, compute_per_byte=c)
        run = fakempi.run(main, case.p, cost=cost)
        time = algorithm.time(case, T_S, T_W, c)
        assert time is None or run.time == time
        assert time is None or fakempi.run(ghost, case.p, cost=cost).time == time
    sent = [algorithm.sent(case, rank) for rank in range(case.p)]
    assert None in sent or run.bytes == sum(count or 0 for count in sent)
    plan = algorithm.plan(case)
    assert plan is None or run.messages == sum(len(transfers) for transfers in plan)
    rounds = algorithm.rounds(case)
    counted = fakempi.run(main, case.p, cost=fakempi.Hockney(t_s=1.0, t_w=0.0, eager_limit=0))
    assert rounds is None or counted.time == rounds


@pytest.mark.parametrize("algorithm", INTRA, ids=every)
@given(data=st.data())
@settings(max_examples=3, deadline=None)
def test_results_on_threads(algorithm: Algorithm, data: Any) -> None:
    """The same on the other carrier: numpy's answer, in the claimed time."""
    case = data.draw(drawn_cases(algorithm))

    def main(comm: Any) -> None:
        check(algorithm, comm, case, ops_of(fakempi.MPI))

    cost = fakempi.Hockney(t_s=T_S, t_w=T_W, eager_limit=0)
    time = algorithm.time(case, T_S, T_W)
    run = fakempi.run(main, case.p, cost=cost, carrier="threads")
    assert time is None or run.time == time


@pytest.mark.parametrize("algorithm", [a for a in INTRA if a.operation == "allreduce"], ids=every)
@pytest.mark.parametrize("p", [2, 5, 8, 13])
def test_all_ranks_get_the_same_sum_rounding_included(algorithm: Algorithm, p: int) -> None:
    """Sums that depend on their order, bit by bit."""

    def main(comm: Any) -> bytes:
        own = np.random.default_rng(comm.Get_rank()).standard_normal(50)
        total = np.empty(50)
        algorithm.run(comm, own, total, op=ops_of(fakempi.MPI)["sum"])
        return total.tobytes()

    assert len(set(fakempi.run(main, p).returns)) == 1
