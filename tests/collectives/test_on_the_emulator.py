"""Results and claims of every algorithm on the emulator, for random cases, with the checks of `verify`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import CATALOGUE, Algorithm, Case
from collectives.verification.case_claims import disagreement
from collectives.verification.fault import BALANCED, EXACT, ROUNDS
from collectives.verification.fault_search import find_faults
from collectives.verification.reduction_ops import ops_of
from fakempi.apps.emulator import Emulator
from tests.collectives.cases import drawn_cases, sampled_cases
from tests.collectives.phantoms import run_phantom
from tests.helpers.loops import for_each

INTRA = [algorithm for algorithm in CATALOGUE if algorithm.kind == "intra"]
EMULATOR = Emulator()


def name_of(algorithm: Algorithm) -> str:
    return f"{algorithm.operation}-{algorithm.name}"


@pytest.mark.quick(12)
@pytest.mark.parametrize("algorithm", INTRA, ids=name_of)
def test_results_and_claims(algorithm: Algorithm) -> None:
    """Results equal numpy's; time, messages, bytes, rounds and memory equal the claims; so does the time with phantoms."""
    t_s, t_w, c = BALANCED[:3]
    cost = fakempi.Hockney(t_s=t_s, t_w=t_w, eager_limit=0, compute_per_byte=c)
    for case in sampled_cases(algorithm, 5, 8, 13):
        assert list(find_faults(algorithm, case, EMULATOR, [EXACT, BALANCED, ROUNDS])) == []
        time = algorithm.time(case, t_s, t_w, c)
        assert time is None or fakempi.run(partial(run_phantom, algorithm, case=case), case.p, cost=cost).time == time


@pytest.mark.quick(24)
@pytest.mark.parametrize("algorithm", INTRA, ids=name_of)
def test_results_on_threads(algorithm: Algorithm) -> None:
    """Results and claims hold on the threads backend."""
    for case in sampled_cases(algorithm, 6):
        assert list(find_faults(algorithm, case, EMULATOR, [EXACT._replace(backend="threads")])) == []


@pytest.mark.slow
@for_each("algorithm", INTRA)
@given(data=st.data())
@settings(max_examples=3, deadline=None)
def test_results_and_claims_on_up_to_40_ranks(algorithm: Algorithm, data: Any) -> None:
    """Cases drawn by Hypothesis; closed forms and schedule agree in Fractions."""
    case = data.draw(drawn_cases(algorithm))
    assert list(find_faults(algorithm, case, EMULATOR, [EXACT])) == []
    assert disagreement(algorithm, case) is None


@pytest.mark.parametrize("algorithm", [a for a in INTRA if a.operation == "allreduce"], ids=name_of)
@pytest.mark.parametrize("p", [2, 8, 13])
def test_all_ranks_get_bitwise_equal_sums(algorithm: Algorithm, p: int) -> None:
    """The operands are floats whose sum depends on the order of the additions."""

    def main(comm: Any) -> bytes:
        own = np.random.default_rng(comm.Get_rank()).standard_normal(50)
        total = np.empty(50)
        algorithm.run(comm, own, total, op=ops_of(fakempi.MPI)["sum"])
        return total.tobytes()

    if algorithm.why_unsupported(Case(p, 400, itemsize=8)) is None:  # k-ring needs groups of equal size
        assert len(set(fakempi.run(main, p).returns)) == 1
