# pyright: strict
"""A program that uses fakempi's own API, with the types that it relies on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import collectives
import fakempi
from collectives import Algorithm, Case
from fakempi import MPI

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: object, kind: object) -> object:
        """At run time nothing is checked."""
        return value


def main(comm: MPI.Intracomm, factor: int, label: str = "") -> tuple[int, str]:
    """Return a number and a label."""
    return comm.rank * factor, label


def results() -> None:
    """Results of a run have the type of main's result."""
    run = fakempi.run(main, 4, 3, cost=fakempi.Hockney(t_s=1e-6, t_w=1e-9), backend="threads", trace=True)
    assert_type(run, fakempi.Run[tuple[int, str]])
    assert_type(run.returns, list[tuple[int, str]])
    assert_type(fakempi.run(main, 2, 3, "left").returns[0], tuple[int, str])
    assert_type(fakempi.run(lambda comm: comm.size, 2).returns, list[int])
    assert_type(run.time, float)
    assert_type(run.clocks, list[float])
    assert_type(run.messages, int)
    assert_type(run.bytes, int)
    assert_type(run.sent, list[tuple[int, int]])
    assert_type(run.findings, list[fakempi.Finding])
    assert_type(run.trace, fakempi.Trace | None)
    for finding in run.findings:
        assert_type(finding.kind, str)
        assert_type(finding.place, str)
        assert_type(finding.note, bool)


def schedules() -> None:
    """An exploration accepts the arguments of main and options of a run."""
    found = fakempi.explore(main, 2, 5, runs=10, buffering="zero", compare=["returns"], backend="auto", timeout=60)
    assert_type(found, fakempi.Exploration)
    assert_type(found.runs, int)
    assert_type(found.exhausted, bool)
    for failure in found.failures:
        assert_type(failure.schedule, str)
        assert_type(failure.error, fakempi.RunError)


def models() -> Sequence[fakempi.CostModel]:
    """Cost models are interchangeable."""
    return [fakempi.Hockney(t_s=1e-6), fakempi.ZeroCost(), fakempi.LogGP(), fakempi.Torus((2, 2))]


def algorithms(comm: MPI.Intracomm) -> None:
    """Algorithms have claims as functions of a case."""
    ring = collectives.find("allgather", "ring")
    assert_type(ring, Algorithm)
    assert_type(ring.rounds(Case(p=8, m=100)), int | None)
    assert_type(ring.sent(Case(p=8, m=100), rank=0), int | None)
    chosen: Mapping[str, Algorithm] = {"allgather": ring}
    fakempi.run(lambda inner: inner.allgather(inner.rank), 2, algorithms=chosen)
    fakempi.run(lambda inner: inner.bcast(1), 2, algorithms={"bcast": ("chain", {"segment_bytes": 4096})})
