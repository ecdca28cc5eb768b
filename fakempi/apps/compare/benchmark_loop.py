"""Emulate the loop of a benchmark program, to predict its output.

`osu_bcast` and the other OSU benchmarks of collectives measure each rank's time from its call to its return, and average it
over the iterations and then over the ranks. They call a barrier between two iterations, which ranks leave at different
times. The average is smaller than the makespan, which is the time until the last rank has finished.
"""

from __future__ import annotations

from typing import Any

from collectives import Algorithm, Case, UnsupportedCaseError
from collectives.trials.calls import prepared, two_groups
from fakempi.core.network.cost import CostModel
from fakempi.core.run_result import Run
from fakempi.core.world import run
from fakempi.errors import RankError
from fakempi.mpi.base.environment import Wtime
from fakempi.mpi.buffers.phantom import phantom
from fakempi.mpi.operations.op import SUM

WARM_UP, ITERATIONS = 1, 3
"""Modeled time repeats after one iteration, so a few are enough."""


def loop_average(algorithm: Algorithm, case: Case, cost: CostModel) -> float:
    """Return the average over ranks and iterations of the time of a call, as the OSU Micro-Benchmarks compute it."""

    def program(comm: Any) -> float:
        comms = two_groups(comm, case.p) if case.q else (comm,)
        call = prepared(algorithm, case, comm.Get_rank(), comms, phantom, SUM)
        total = 0.0
        for iteration in range(WARM_UP + ITERATIONS):
            start = Wtime()
            call()
            if iteration >= WARM_UP:
                total += Wtime() - start
            comm.Barrier()
        return total / ITERATIONS

    times = _emulated(program, case.ranks, cost).returns
    return float(sum(times) / len(times))


def makespan(algorithm: Algorithm, case: Case, cost: CostModel) -> Any:
    """Return the time until the last rank has finished one call, with phantom buffers."""

    def program(comm: Any) -> None:
        comms = two_groups(comm, case.p) if case.q else (comm,)
        prepared(algorithm, case, comm.Get_rank(), comms, phantom, SUM)()

    return _emulated(program, case.ranks, cost).time


def _emulated(program: Any, ranks: int, cost: CostModel) -> Run[Any]:
    """Run a program; an algorithm that rejects its case raises that error."""
    try:
        return run(program, ranks, cost=cost)
    except RankError as error:
        if isinstance(error.exception, UnsupportedCaseError):
            raise error.exception from None
        raise
