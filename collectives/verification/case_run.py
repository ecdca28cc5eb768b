"""Run one case once on a machine, and collect the result of every rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case, UnsupportedCaseError
from collectives.tools.blocks import scratch_meter
from collectives.verification import inter_calls, intra_calls, sort_and_split
from collectives.verification.calls import Mismatch
from collectives.verification.group_side import GroupSide
from collectives.verification.machine import Machine, RunOutcome, Setting
from collectives.verification.reduction_ops import ops_of

LAG = 3000
"""Modeled seconds between the calls of consecutive ranks where `Setting.late` is set: a few messages' time."""


@dataclass
class RankResult:
    """The result of one rank; `ended` is false if its call did not return."""

    ended: bool = False
    rejected: str | None = None
    wrong: Mismatch | None = None
    changed: Mismatch | None = None
    scratch: int = 0
    held: int = 0
    """Sorts and splits: the largest number of items held at once."""
    released: bool = True
    """Sorts and splits: whether the rank reported the release of every item."""


@dataclass(frozen=True)
class CaseRun:
    """One run of a case."""

    setting: Setting
    outcome: RunOutcome
    results: Sequence[RankResult]


class CaseCall(NamedTuple):
    """A rank's call and the checks of its result."""

    call: Callable[[], Any]
    wrong: Callable[[Any], Mismatch | None]
    changed: Callable[[], Mismatch | None]


def run_case(algorithm: Algorithm, case: Case, machine: Machine, setting: Setting, trace: bool = False) -> CaseRun:
    """Run the case with real buffer contents. Errors of the algorithm are part of the result."""
    results = [RankResult() for _ in range(case.ranks)]
    ops = ops_of(machine.MPI)

    def program(comm: Any, local: Any = None, in_a: bool = True) -> None:
        number = comm.Get_rank() + (0 if in_a else case.p)
        result = results[number]
        prepared = _prepare(algorithm, case, comm, local, in_a, ops, result)
        if setting.late >= 0:
            machine.compute((number - setting.late - 1) % case.ranks * LAG)
        scratch_meter.set(lambda nbytes: _add_scratch(result, nbytes))
        try:
            returned = prepared.call()
        except UnsupportedCaseError as reason:
            result.rejected = str(reason)
        else:
            result.wrong, result.changed = prepared.wrong(returned), prepared.changed()
            # A barrier between two groups waits for the other group only.
            waits_for_late = not case.q or (setting.late < case.p) != in_a
            if algorithm.operation == "barrier" and setting.late >= 0 and waits_for_late:
                result.wrong = _too_early(machine.MPI.Wtime(), (case.ranks - 1) * LAG, setting.late)
        finally:
            scratch_meter.set(None)
        result.ended = True

    outcome = machine.run(program, case.p, case.q, setting, trace)
    return CaseRun(setting, outcome, results)


def _add_scratch(result: RankResult, nbytes: int) -> None:
    result.scratch += nbytes


def _too_early(left_at: float, entered: int, late: int) -> Mismatch | None:
    if left_at >= entered:
        return None
    message = f"left the barrier at {left_at:g} s, before rank {late} entered it at {entered} s"
    return Mismatch(message, f"not before {entered}", f"left at {left_at:g}")


def _prepare(algorithm: Algorithm, case: Case, comm: Any, local: Any, in_a: bool, ops: Any, result: RankResult) -> CaseCall:
    if algorithm.kind in ("chain", "split"):
        make, wrong = sort_and_split.prepare(algorithm, case, comm, result)
        return CaseCall(make, wrong, lambda: None)
    if algorithm.kind == "inter":
        call = inter_calls.prepare(algorithm.operation, GroupSide(case, in_a, comm.Get_rank()), ops)
        handles: tuple[Any, ...] = (comm, local)
        keywords = inter_calls.keywords(case, in_a)
    else:
        call = intra_calls.prepare(algorithm.operation, case, comm.Get_rank(), ops)
        handles, keywords = (comm,), dict(case.parameters)
    return CaseCall(
        lambda: algorithm.run(*handles, *call.args, **call.kwargs, **keywords),
        lambda returned: call.wrong_result(),
        call.changed_input,
    )
