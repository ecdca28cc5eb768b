"""Run allgathers on the emulator, check their results, and return their messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import fakempi
from collectives import Algorithm, Case
from collectives.verification.intra_calls import check

Message = tuple[int, int, int, float, float]


def gathered(
    algorithm: Algorithm,
    case: Case,
    *,
    cost: fakempi.CostModel | None = None,
    backend: Any = "auto",
    trace: bool = False,
    phantom: bool = False,
) -> fakempi.Run[None]:
    """Run a case; every rank compares its result with numpy's, unless the buffers are phantoms."""

    def main(comm: Any) -> None:
        if phantom:
            mine, everything = (
                fakempi.phantom(case.layout.size(start, stop) * case.itemsize, case.itemsize)
                for start, stop in ((comm.Get_rank(), comm.Get_rank() + 1), (0, case.p))
            )
            counts = () if case.counts is None else (case.counts,)
            algorithm.run(comm, mine, everything, *counts, **case.parameters)
        else:
            check(algorithm, comm, case)

    cost = cost or fakempi.Hockney(t_s=0, t_w=1, eager_limit=0)
    return fakempi.run(main, case.p, cost=cost, backend=backend, trace=trace)


def allgatherv(
    algorithm: Algorithm,
    counts: Sequence[int],
    *,
    itemsize: int = 1,
    t_s: int = 0,
    t_w: int = 1,
    backend: Any = "auto",
    trace: bool = False,
    phantom: bool = False,
    **parameters: Any,
) -> fakempi.Run[None]:
    """Run an allgatherv with these counts, with linear costs and without buffering."""
    case = Case(len(counts), counts=tuple(counts), itemsize=itemsize, parameters=parameters)
    cost = fakempi.Hockney(t_s=t_s, t_w=t_w, eager_limit=0)
    return gathered(algorithm, case, cost=cost, backend=backend, trace=trace, phantom=phantom)


def messages(run: fakempi.Run[None]) -> list[Message]:
    """Return source, destination, bytes, start and end of all messages, in the order of their starts."""
    assert run.trace is not None
    return [(t.source, t.dest, t.nbytes, t.start, t.arrived) for t in run.trace.transfers]
