"""Run under mpiexec: the schedules of all algorithms, recorded and executed on a real MPI, compared with numpy.

mpiexec -n 5 python tests/real_mpi/run_schedules.py (within a group of 5 processes, then between groups of 2 and 3)

Sends are synchronous, so that a schedule that relies on buffering hangs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mpi4py import MPI

from collectives import CATALOGUE, Algorithm, Case, UnsupportedCaseError
from collectives.schedules import Schedule, json_format, record
from collectives.schedules.recording import OPERATIONS
from collectives.verification import inter_calls, intra_calls
from collectives.verification.cases import some_cases
from collectives.verification.inter_cases import inter_cases
from collectives.verification.reduction_ops import ops_of
from tests.real_mpi.processes import finish
from tests.real_mpi.run_inter import Synchronous

OPS = ops_of(MPI)


def schedules(kind: str, p: int, q: int) -> Iterator[tuple[Algorithm, Case, Schedule]]:
    """Two schedules of every algorithm that can be recorded; rank 0 records them for all processes."""
    for algorithm in CATALOGUE:
        if algorithm.kind != kind or algorithm.operation not in OPERATIONS:
            continue
        every = inter_cases(algorithm, p, q) if q else some_cases(algorithm, p)
        found = [case for case in every if not case.in_place and algorithm.why_unsupported(case) is None]
        for case in found[:: max(1, len(found) // 2)][:2]:
            text = MPI.COMM_WORLD.bcast(recorded(algorithm, case) if MPI.COMM_WORLD.Get_rank() == 0 else None)
            if text is None:
                assert q or algorithm.name == "smp", algorithm
            else:
                yield algorithm, case, json_format.read(text)


def recorded(algorithm: Algorithm, case: Case) -> str | None:
    """The schedule as JSON; None if the algorithm cannot be recorded because it sends block sizes."""
    try:
        return json_format.write(record(algorithm, case))
    except UnsupportedCaseError:
        return None


def main() -> int:
    """Run everything and count the algorithms."""
    world: Any = MPI.COMM_WORLD
    rank, ranks = world.Get_rank(), world.Get_size()
    passed = []
    for algorithm, case, schedule in schedules("intra", ranks, 0):
        intra_calls.check(schedule.algorithm(), Synchronous(world), replace(case, parameters={}), OPS)
        passed.append((algorithm.operation, algorithm.name))
    p = ranks // 2
    in_a = rank < p
    local = world.Split(0 if in_a else 1, rank)
    inter = local.Create_intercomm(0, world, p if in_a else 0)
    between = []
    for algorithm, case, schedule in schedules("inter", p, ranks - p):
        plain = replace(case, parameters={"first": True})
        inter_calls.check(schedule.algorithm(), Synchronous(inter), Synchronous(local), plain, in_a, OPS)
        between.append((algorithm.operation, algorithm.name))
    assert len({*map(tuple, world.allgather((len(passed), len(between))))}) == 1
    if rank == 0:
        print(f"{len({*passed})} algorithms within a group, {len({*between})} between two groups", flush=True)
    return 0


if __name__ == "__main__":
    finish(main)
