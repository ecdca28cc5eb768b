"""Allgathers on the emulator, checked, with the messages that they sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import fakempi
from collectives import Algorithm, Case
from collectives.verification.one_group import check

Message = tuple[int, int, int, float, float]


def gathered(
    algorithm: Algorithm,
    case: Case,
    *,
    cost: fakempi.CostModel | None = None,
    carrier: str = "auto",
    trace: bool = False,
    phantom: bool = False,
) -> fakempi.Run:
    """Run a case; every rank's result is compared with numpy's, unless payloads are phantoms."""

    def main(comm: Any) -> None:
        if phantom:
            mine, all_of_it = (
                fakempi.phantom(case.layout.size(start, stop) * case.itemsize, case.itemsize)
                for start, stop in ((comm.Get_rank(), comm.Get_rank() + 1), (0, case.p))
            )
            counts = () if case.counts is None else (case.counts,)
            algorithm.run(comm, mine, all_of_it, *counts, **case.parameters)
        else:
            check(algorithm, comm, case)

    cost = cost or fakempi.Hockney(t_s=0, t_w=1, eager_limit=0)
    return fakempi.run(main, case.p, cost=cost, carrier=carrier, trace=trace)


def allgatherv(
    algorithm: Algorithm,
    counts: Sequence[int],
    *,
    itemsize: int = 1,
    t_s: int = 0,
    t_w: int = 1,
    carrier: str = "auto",
    trace: bool = False,
    phantom: bool = False,
    **parameters: Any,
) -> fakempi.Run:
    """An allgatherv of so many elements from each rank, with linear costs and nothing buffered."""
    case = Case(len(counts), counts=tuple(counts), itemsize=itemsize, parameters=parameters)
    cost = fakempi.Hockney(t_s=t_s, t_w=t_w, eager_limit=0)
    return gathered(algorithm, case, cost=cost, carrier=carrier, trace=trace, phantom=phantom)


def messages(run: fakempi.Run) -> list[Message]:
    """Source, destination, bytes, begin and end, in the order in which they began."""
    assert run.trace is not None
    return [(t.source, t.dest, t.nbytes, t.start, t.arrived) for t in run.trace.transfers]
