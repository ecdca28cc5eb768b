"""One case, run once on a machine: what every rank found when its call was over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case, DoesNotFit
from collectives.tools.blocks import scratch_meter
from collectives.verification import chains, one_group, two_groups
from collectives.verification.calls import Wrong
from collectives.verification.machine import Machine, Outcome, Setting
from collectives.verification.ops import ops_of
from collectives.verification.side import Side

LAG = 3000
"""Seconds between the ranks where they come to the call one after the other: some messages' time."""


@dataclass
class Finding:
    """What a rank found. `ended` is false if its call did not come to an end."""

    ended: bool = False
    refused: str | None = None
    wrong: Wrong | None = None
    changed: Wrong | None = None
    scratch: int = 0
    held: int = 0
    """Of what runs on chains: the most items at once."""
    released: bool = True
    """And whether it let go of all of them."""


@dataclass(frozen=True)
class Trial:
    """A run of a case."""

    setting: Setting
    outcome: Outcome
    findings: Sequence[Finding]


class Prepared(NamedTuple):
    """A rank's call, ready to be made."""

    make: Callable[[], Any]
    wrong: Callable[[Any], Wrong | None]
    changed: Callable[[], Wrong | None]


def attempt(algorithm: Algorithm, case: Case, machine: Machine, setting: Setting, trace: bool = False) -> Trial:
    """Run the case, each rank's call with contents; nothing is raised for what an algorithm does."""
    findings = [Finding() for _ in range(case.ranks)]
    ops = ops_of(machine.MPI)

    def program(comm: Any, local: Any = None, in_a: bool = True) -> None:
        number = comm.Get_rank() + (0 if in_a else case.p)
        finding = findings[number]
        call = _prepared(algorithm, case, comm, local, in_a, ops, finding)
        if setting.late >= 0:
            machine.compute((number - setting.late - 1) % case.ranks * LAG)
        scratch_meter.set(lambda nbytes: _take(finding, nbytes))
        try:
            returned = call.make()
        except DoesNotFit as reason:
            finding.refused = str(reason)
        else:
            finding.wrong, finding.changed = call.wrong(returned), call.changed()
            across = not case.q or (setting.late < case.p) != in_a  # between groups one waits for the others alone
            if algorithm.operation == "barrier" and setting.late >= 0 and across:
                finding.wrong = _too_early(machine.MPI.Wtime(), (case.ranks - 1) * LAG, setting.late)
        finally:
            scratch_meter.set(None)
        finding.ended = True

    outcome = machine.run(program, case.p, case.q, setting, trace)
    return Trial(setting, outcome, findings)


def _take(finding: Finding, nbytes: int) -> None:
    finding.scratch += nbytes


def _too_early(left: float, last: int, late: int) -> Wrong | None:
    if left >= last:
        return None
    words = f"gone on at {left:g}, before rank {late} came to the barrier at {last}"
    return Wrong(words, f"not before {last}", f"gone on at {left:g}")


def _prepared(algorithm: Algorithm, case: Case, comm: Any, local: Any, in_a: bool, ops: Any, finding: Finding) -> Prepared:
    if algorithm.kind in ("chain", "split"):
        make, wrong = chains.prepare(algorithm, case, comm, finding)
        return Prepared(make, wrong, lambda: None)
    if algorithm.kind == "inter":
        call = two_groups.prepare(algorithm.operation, Side(case, in_a, comm.Get_rank()), ops)
        handles: tuple[Any, ...] = (comm, local)
        keywords = two_groups.keywords(case, in_a)
    else:
        call = one_group.prepare(algorithm.operation, case, comm.Get_rank(), ops)
        handles, keywords = (comm,), dict(case.parameters)
    return Prepared(
        lambda: algorithm.run(*handles, *call.args, **call.kwargs, **keywords),
        lambda returned: call.wrong_result(),
        call.changed_input,
    )
