"""Schedules as algorithms: fused runs equal emulated ones, and a call has the root of its schedule."""

from __future__ import annotations

import numpy as np
import pytest

import fakempi
from collectives import Case, UnsupportedCaseError, find
from collectives.schedules import record
from fakempi import MPI
from fakempi.core.arguments import Fused
from tests.collectives.schedules.samples import ALGORITHMS
from tests.fused.test_random_programs import CALLS, calls_of

ROOTED = ("bcast", "gather", "scatter", "reduce")
P, N = 5, 9


def case_of(operation: str) -> Case:
    """The case of a call in `CALLS`."""
    root = 2 if operation in ROOTED else 0
    if operation in ("reduce_scatter", "allgatherv"):
        return Case(P, counts=(N,) * P, itemsize=8)
    if operation == "alltoallv":
        return Case(P, traffic=((N,) * P,) * P, itemsize=8)
    return Case(P, m=0 if operation == "barrier" else 8 * N, root=root, itemsize=8)


@pytest.mark.sample
@pytest.mark.slow
def test_schedules_run_fused_as_they_run_emulated() -> None:
    """Results, clocks and messages of every schedule that can be recorded are equal, and most calls are fused."""
    fused = emulated = 0
    for algorithm in ALGORITHMS:
        operation = algorithm.operation
        if operation not in CALLS:
            continue
        try:
            played = record(algorithm, case_of(operation)).algorithm()
        except UnsupportedCaseError:  # such as p = 5 of an algorithm for powers of two
            continue
        chosen = {operation: played}
        runs = [
            fakempi.run(calls_of, P, operation, N, 1, cost="hockney:eager_limit=0", algorithms=chosen, fused=how)
            for how in ("auto", "never")
        ]
        assert [runs[0].returns, runs[0].clocks, runs[0].sent] == [runs[1].returns, runs[1].clocks, runs[1].sent], algorithm
        calls = runs[0].fused_calls[operation]
        fused, emulated = fused + calls.fused, emulated + sum(calls.emulated.values())
    assert fused > emulated


@pytest.mark.parametrize("fused", ["auto", "never"])
def test_a_schedule_for_another_root_is_refused(fused: Fused) -> None:
    """The message has both roots."""
    played = record(find("bcast", "binomial"), Case(P, m=8, root=2, itemsize=8)).algorithm()

    def main(comm: MPI.Intracomm, root: int) -> float:
        data = np.full(1, float(comm.rank))
        comm.Bcast(data, root)
        return float(data[0])

    assert fakempi.run(main, P, 2, algorithms={"bcast": played}, fused=fused).returns == [2.0] * P
    with pytest.raises(fakempi.RankError, match="binomial was requested, but it has root 2, not 0"):
        fakempi.run(main, P, 0, algorithms={"bcast": played}, fused=fused)
