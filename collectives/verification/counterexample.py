"""What is told of a case in which an algorithm does not do what it claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification.cases import PAIRED, REDUCING, ROOTED, UNEVEN
from collectives.verification.chains import SortCase, SplitCase, exact
from collectives.verification.fault import FAILURES, Fault
from collectives.verification.machine import Machine, Message, Setting
from collectives.verification.paper import Paper, breach
from collectives.verification.picture import ROWS, amount, beside, parting, rounds_ended, table
from collectives.verification.trial import attempt

LINES = 14
"""Lines of a machine's report that are shown."""


@dataclass(frozen=True)
class Counterexample:
    """The smallest case found in which something is wrong. As text: what, the case, and the round where paper and run part.

    Attributes
    ----------
    algorithm, case
        In which case of which algorithm.
    what
        "result", "input" (changed), "unreceived", "messages", "bytes", "rounds", "time", "scratch", "holds", "fits",
        "deadlock", "livelock", "endless", "error", "claims" (one raised) or "schedule" (it breaks the model's rules).
    claimed, found
        On paper, or as it must be; and in the run.
    """

    algorithm: Algorithm = field(repr=False)
    case: Case
    what: str
    claimed: Any
    found: Any
    line: str = field(repr=False)
    where: str = field(repr=False)
    picture: tuple[str, ...] = field(repr=False)

    @property
    def p(self) -> int:
        """Ranks; between two groups those of A."""
        return self.case.p

    def __str__(self) -> str:
        return "\n".join([self.line, self.where, *(f"    {line}".rstrip() for line in self.picture)])


def title(algorithm: Algorithm) -> str:
    """`bcast binomial`, `inter allgather full_duplex`."""
    return " ".join([*dict.fromkeys((algorithm.kind, algorithm.operation)), algorithm.name]).removeprefix("intra ")


def made(algorithm: Algorithm, case: Case, fault: Fault, machine: Machine) -> Counterexample:
    """A fault with its picture, for which the case is run once more."""
    where = f"smallest case: {in_words(case, algorithm.operation)}" + (f"; {fault.setting}" if fault.setting else "")
    picture = tuple(_picture(algorithm, case, fault, machine))
    line = f"{title(algorithm)}, {fault.what}: {fault.words}"
    return Counterexample(algorithm, case, fault.what, fault.claimed, fault.found, line, where, picture)


def in_words(case: Case, operation: str) -> str:
    """What there is to say of a case.

    >>> in_words(Case(3, 8, root=2, itemsize=4), "bcast")
    'p = 3, m = 8 bytes, 4 an element, root 2'
    """
    return ", ".join(_parts(case, operation))


def _parts(case: Case, operation: str) -> Iterator[str]:
    yield f"p = {case.p}" + (f", q = {case.q}" if case.q else "")
    if isinstance(case, SplitCase):
        yield f"colours {_list(case.colors)}, keys {_list(case.keys)}"
    elif isinstance(case, SortCase):
        yield f"numbers {_list(case.numbers)}, ranks in the order {_list(case.order)}"
    elif operation in PAIRED:
        yield f"traffic {case.traffic}" + (f" and back {case.traffic_b}" if case.q else "")
    elif operation in UNEVEN:
        yield ", ".join(f"counts {_list(each)}" for each in (case.counts, case.counts_b) if each is not None)
    elif operation != "barrier":
        size = f"m = {amount(case.m)}" + (f" in A and {amount(case.m_b)} in B" if case.q else "")
        yield size + (f", {case.itemsize} an element" if case.itemsize > 1 else "")
    if case.itemsize > 1 and operation in UNEVEN | PAIRED:
        yield f"elements of {case.itemsize} bytes"
    if operation in ROOTED:
        yield f"root {case.root}"
    if case.in_place:
        yield "in place"
    if operation in REDUCING:
        yield "an op that commutes" if case.commutative else "an op that does not commute"
    for name, value in case.parameters.items():
        yield f"{name} = {value.name if isinstance(value, Algorithm) else value}"


def _list(values: tuple[Any, ...]) -> str:
    return " ".join(map(str, values))


def _picture(algorithm: Algorithm, case: Case, fault: Fault, machine: Machine) -> Iterator[str]:
    """Where paper and run part; what else there is to see, rank by rank; and the machine's own words."""
    if fault.setting is not None and fault.what not in ("fits", "endless"):
        transfers = attempt(algorithm, case, machine, fault.setting, trace=True).outcome.transfers
        plan = Paper(algorithm, case).plan if exact(case) else None
        yield from _rounds(fault, plan, transfers, case.ranks, fault.setting)
    if fault.by_rank:
        heads = ("must have", "has") if fault.what in ("result", "input") else ("claimed", "in the run")
        cells = [[str(rank), *pair] for rank, pair in enumerate(fault.by_rank) if pair[0] != pair[1]]
        yield from table(["rank", *heads], cells[:ROWS])
    if isinstance(fault.found, str) and fault.what in ("deadlock", "livelock", "endless"):
        yield from fault.found.splitlines()[:LINES]


def _rounds(fault: Fault, plan: Any, transfers: Sequence[Message], ranks: int, setting: Setting) -> Iterator[str]:
    if plan is None or breach(plan, ranks) is not None:
        yield "there is no schedule to lay beside the run"
        return
    parted = parting(plan, transfers, ranks, setting)
    if parted is not None:
        number, rows = parted
        yield f"round {number}{' (there are no more on paper)' if number > len(plan) else ''}, where paper and run part:"
        yield from beside(rows)
        return
    if fault.what in ("time", "rounds"):
        yield "run and schedule agree in every message; by the schedule"
        yield from rounds_ended(plan, ranks, setting)
    elif fault.what not in FAILURES:
        yield "run and schedule agree in every message"
