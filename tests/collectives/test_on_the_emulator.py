"""Results and claims on the emulator: every algorithm, Hypothesis-drawn cases, compared exactly by what `verify` uses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Algorithm
from collectives.verification.fault import BALANCED, EXACT, ROUNDS
from collectives.verification.faults import faults
from collectives.verification.ops import ops_of
from fakempi.laboratory import Emulator
from tests.collectives.cases import drawn_cases
from tests.collectives.phantoms import run_phantom

INTRA = [algorithm for algorithm in CATALOGUE if algorithm.kind == "intra"]
EMULATOR = Emulator()


def every(algorithm: Algorithm) -> str:
    return f"{algorithm.operation}-{algorithm.name}"


@pytest.mark.parametrize("algorithm", INTRA, ids=every)
@given(data=st.data())
@settings(max_examples=10, deadline=None)
def test_results_and_claims(algorithm: Algorithm, data: Any) -> None:
    """numpy's answer, in exactly the claimed time, with the claimed messages, bytes, rounds and memory; phantoms alike."""
    case = data.draw(drawn_cases(algorithm))
    assert list(faults(algorithm, case, EMULATOR, [EXACT, BALANCED, ROUNDS])) == []
    for t_s, t_w, c in (EXACT[:3], BALANCED[:3]):
        cost = fakempi.Hockney(t_s=t_s, t_w=t_w, eager_limit=0, compute_per_byte=c)
        time = algorithm.time(case, t_s, t_w, c)
        assert time is None or fakempi.run(lambda comm: run_phantom(algorithm, comm, case), case.p, cost=cost).time == time


@pytest.mark.parametrize("algorithm", INTRA, ids=every)
@given(data=st.data())
@settings(max_examples=3, deadline=None)
def test_results_on_threads(algorithm: Algorithm, data: Any) -> None:
    """The same on the other carrier: numpy's answer, in the claimed time."""
    case = data.draw(drawn_cases(algorithm))
    assert list(faults(algorithm, case, EMULATOR, [EXACT._replace(carrier="threads")])) == []


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
