"""Counterexample: a case in which an algorithm does not do what it claims, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.tools.plurals import counted
from collectives.verification.case_claims import CaseClaims, model_violation
from collectives.verification.case_run import run_case
from collectives.verification.cases import PAIRED, REDUCING, ROOTED, UNEVEN
from collectives.verification.fault import FAILURES, AlgorithmFault
from collectives.verification.first_difference import MAX_ROWS, first_difference, round_end_times, side_by_side, table
from collectives.verification.machine import Machine, RunMessage, Setting
from collectives.verification.sort_and_split import SortCase, SplitCase, has_exact_claims

MAX_LINES = 14
"""Lines of a machine's report that are shown."""


@dataclass(frozen=True)
class Counterexample:
    """The smallest case found with a fault. As text: the fault, the case, and the first round that differs.

    Attributes
    ----------
    algorithm, case
        The algorithm and the case.
    kind
        "result", "input" (changed), "unreceived", "messages", "bytes", "rounds", "time", "scratch", "holds",
        "fits", "deadlock", "livelock", "timeout", "error", "claims" (a claim raised an exception) or
        "schedule" (it violates the model).
    claimed, actual
        The claimed or expected value, and the value in the run.
    """

    algorithm: Algorithm = field(repr=False)
    case: Case
    kind: str
    claimed: Any
    actual: Any
    summary: str = field(repr=False)
    case_line: str = field(repr=False)
    details: tuple[str, ...] = field(repr=False)

    @property
    def p(self) -> int:
        """Number of ranks; between two groups, of group A."""
        return self.case.p

    def __str__(self) -> str:
        return "\n".join([self.summary, self.case_line, *(f"    {line}".rstrip() for line in self.details)])


def title(algorithm: Algorithm) -> str:
    """Return the algorithm's name for messages: `bcast binomial`, `inter allgather full_duplex`."""
    return " ".join([*dict.fromkeys((algorithm.kind, algorithm.operation)), algorithm.name]).removeprefix("intra ")


def make_counterexample(algorithm: Algorithm, case: Case, fault: AlgorithmFault, machine: Machine) -> Counterexample:
    """Return the counterexample of a fault; runs the case once more, with a trace."""
    description = describe_case(case, algorithm.operation)
    case_line = f"smallest case: {description}" + (f"; {fault.setting}" if fault.setting else "")
    details = tuple(_details(algorithm, case, fault, machine))
    summary = f"{title(algorithm)}, {fault.kind}: {fault.message}"
    return Counterexample(algorithm, case, fault.kind, fault.claimed, fault.actual, summary, case_line, details)


def describe_case(case: Case, operation: str) -> str:
    """Describe a case in one line.

    >>> describe_case(Case(3, 8, root=2, itemsize=4), "bcast")
    'p = 3, m = 8 bytes, 4 bytes per element, root 2'
    """
    return ", ".join(_parts(case, operation))


def _parts(case: Case, operation: str) -> Iterator[str]:
    yield f"p = {case.p}" + (f", q = {case.q}" if case.q else "")
    if isinstance(case, SplitCase):
        yield f"colors {_list(case.colors)}, keys {_list(case.keys)}"
    elif isinstance(case, SortCase):
        yield f"numbers {_list(case.numbers)}, chain of ranks {_list(case.order)}"
    elif operation in PAIRED:
        yield f"traffic {case.traffic}" + (f" from A to B and {case.traffic_b} from B to A" if case.q else "")
    elif operation in UNEVEN:
        yield ", ".join(f"counts {_list(counts)}" for counts in (case.counts, case.counts_b) if counts is not None)
    elif operation != "barrier":
        yield f"m = {counted(case.m, 'byte')}" + (f" in A and {counted(case.m_b, 'byte')} in B" if case.q else "")
    if case.itemsize > 1 and operation != "barrier" and not isinstance(case, SplitCase | SortCase):
        yield f"{case.itemsize} bytes per element"
    if operation in ROOTED:
        yield f"root {case.root}"
    if case.in_place:
        yield "in place"
    if operation in REDUCING:
        yield "commutative op" if case.commutative else "noncommutative op"
    for name, value in case.parameters.items():
        yield f"{name} = {value.name if isinstance(value, Algorithm) else value}"


def _list(values: tuple[Any, ...]) -> str:
    return " ".join(map(str, values))


def _details(algorithm: Algorithm, case: Case, fault: AlgorithmFault, machine: Machine) -> Iterator[str]:
    """The first round that differs from the schedule, the values of every rank, and the machine's report."""
    if fault.setting is not None and fault.kind not in ("fits", "timeout"):
        transfers = run_case(algorithm, case, machine, fault.setting, trace=True).outcome.transfers
        schedule = CaseClaims(algorithm, case).schedule if has_exact_claims(case) else None
        yield from _rounds(fault, schedule, transfers, case.ranks, fault.setting)
    if fault.by_rank:
        heads = ("expected", "actual") if fault.kind in ("result", "input") else ("claimed", "actual")
        cells = [[str(rank), *pair] for rank, pair in enumerate(fault.by_rank) if pair[0] != pair[1]]
        yield from table(["rank", *heads], cells[:MAX_ROWS])
    if isinstance(fault.actual, str) and fault.kind in ("deadlock", "livelock", "timeout"):
        yield from fault.actual.splitlines()[:MAX_LINES]


def _rounds(
    fault: AlgorithmFault, schedule: Any, transfers: Sequence[RunMessage], ranks: int, setting: Setting
) -> Iterator[str]:
    if schedule is None or model_violation(schedule, ranks) is not None:
        yield "no valid schedule to compare the run with"
        return
    difference = first_difference(schedule, transfers, ranks, setting)
    if difference is not None:
        number, rows = difference
        beyond = f" (the schedule ends after round {len(schedule)})" if number > len(schedule) else ""
        yield f"first difference between schedule and run: round {number}{beyond}"
        yield from side_by_side(rows)
        return
    if fault.kind in ("time", "rounds"):
        yield "all messages of the run match the schedule, whose rounds end at these times:"
        yield from round_end_times(schedule, ranks, setting)
    elif fault.kind not in FAILURES:
        yield "all messages of the run match the schedule"
