"""Runs for tests of views."""

from __future__ import annotations

from functools import cache
from typing import Any

import collectives
import fakempi
from fakempi import Hockney, compute, phantom
from fakempi.trace.record import Trace


def traced(main: Any, ranks: int, cost: Any = None) -> Trace:
    """The trace of a run."""
    trace = fakempi.run(main, ranks, cost=cost or PAPERS, trace=True, algorithms=REQUESTED).trace
    assert trace is not None
    return trace


@cache
def allgather(name: str, ranks: int) -> Trace:
    """An allgather of 800 bytes per rank."""
    algorithm = collectives.find("allgather", name)
    return traced(lambda comm: algorithm.run(comm, phantom(800), phantom(800 * ranks)), ranks)


def everything(comm: Any) -> None:
    """Computing, collectives, a phase, and late ranks."""
    for turn in range(3):
        compute(1e-5 * (1 + (comm.rank + turn) % 4))
        comm.Allreduce(phantom(8000), phantom(8000))
    with fakempi.region("halo"):
        right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        comm.Sendrecv(phantom(90_000), right, 0, phantom(90_000), left, 0)
    compute(2e-5 * (comm.rank == 3))
    comm.Bcast(phantom(2000), root=3)
    comm.Barrier()


@cache
def work(ranks: int = 8) -> Trace:
    """The trace of that program."""
    return traced(everything, ranks, Hockney(1e-6, 1e-9, compute_per_byte=1e-9))


PAPERS = Hockney(1e-6, 1e-9, eager_limit=0)
REQUESTED = {"allreduce": "recursive_doubling", "bcast": "binomial"}
"""Fixed algorithms, so that pictures do not depend on the default table.

Last in the file, because pictures contain line numbers.
"""
