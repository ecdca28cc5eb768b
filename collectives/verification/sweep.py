"""Verify: an algorithm on many cases, smallest first, and the smallest counterexample of everything that is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification import one_group, two_groups
from collectives.verification.cases import REDUCING
from collectives.verification.counterexample import Counterexample, made
from collectives.verification.fault import FAILURES, ORDER, Fault
from collectives.verification.faults import faults
from collectives.verification.machine import Machine, found_machine
from collectives.verification.plan import Job, planned
from collectives.verification.shrinking import shrunk, weight

RANKS = 17
"""The largest number of ranks unless one is given."""

CASES = 600
"""About how many unless it is said: three to fifteen seconds."""

ENOUGH = 30
"""Cases that fail altogether after which no more are tried; one that does not end is enough."""

SHRINKING = 10.0
"""Seconds of real time to look for a smaller case; it takes one, unless smaller cases do not end."""

Tell = Callable[[int, int, Case], object]
"""Hears how many cases have been tried, of how many, and which is next."""


@dataclass(frozen=True)
class Verdict:
    """What became of a verification: `tried` cases of `planned`, on up to `ranks` ranks, of which `refused` were refused."""

    algorithm: Algorithm
    planned: int
    ranks: int
    tried: int = 0
    refused: int = 0
    counterexamples: list[Counterexample] = field(default_factory=list)

    @property
    def compared(self) -> list[str]:
        """What was looked at: results, and all that the algorithm claims."""
        of, scheduled = self.algorithm, self.algorithm.schedule is not None
        claims = {
            "messages": scheduled,
            "bytes": scheduled or of.closed_sent is not None,
            "rounds": scheduled or of.closed_rounds is not None,
            "modelled time": scheduled or of.closed_time is not None,
            "scratch memory": of.kind in ("intra", "inter"),
            "items held": of.holds is not None,
        }
        return ["results", *(name for name, claimed in claims.items() if claimed)]


def verify(
    algorithm: Algorithm,
    machine: Machine | None = None,
    *,
    ranks: int | None = None,
    cases: int | None = None,
    seconds: float | None = None,
    tell: Tell | None = None,
) -> list[Counterexample]:
    """Counterexamples to an algorithm's claims, smallest first, one for each thing that is wrong; empty if all holds.

    Parameters
    ----------
    machine
        What to run it on; the one that an installed package offers unless given.
    ranks
        The largest number of them, between two groups of both together; 17 unless given.
    cases
        About how many; 600 unless given.
    seconds
        Of real time, after which no further case is begun; one is tried in any case.
    tell
        Hears before every case how many have been tried, of how many, and which is next.

    Raises
    ------
    NoMachine
        None is given, and none is installed.
    LookupError
        Nobody knows what results such an operation has.
    """
    machine = machine or found_machine()
    return examine(algorithm, machine, ranks=ranks, cases=cases, seconds=seconds, tell=tell).counterexamples


def examine(
    algorithm: Algorithm,
    machine: Machine,
    *,
    ranks: int | None = None,
    cases: int | None = None,
    seconds: float | None = None,
    tell: Tell | None = None,
) -> Verdict:
    """The same, with how much was tried."""
    _known(algorithm)
    ranks = RANKS if ranks is None else ranks
    if ranks < (2 if algorithm.kind == "inter" else 1):
        raise ValueError(f"verify: ranks is {ranks}; there must be at least {2 if algorithm.kind == 'inter' else 1}")
    begun = time.monotonic()
    jobs = planned(algorithm, ranks, CASES if cases is None else cases, machine.carriers)
    first: dict[str, tuple[Case, Fault]] = {}
    tried = refused = failed = 0
    with machine:
        for case, settings, refuses in jobs:
            if failed >= ENOUGH or (tried and seconds is not None and time.monotonic() - begun > seconds):
                break
            if tell is not None:
                tell(tried, len(jobs), case)
            tried += 1
            refused += refuses
            for fault in faults(algorithm, case, machine, settings):
                first.setdefault(fault.what, (case, fault))
                failed += ENOUGH if fault.what == "endless" else fault.what in FAILURES
        for case, fault in _at_large(algorithm, jobs):
            first.setdefault(fault.what, (case, fault))
        found = [_smallest(algorithm, *first[what], machine) for what in ORDER if what in first]
    found.sort(key=lambda each: weight(each.case)[:3])
    return Verdict(algorithm, len(jobs), ranks, tried, refused, found)


def _known(algorithm: Algorithm) -> None:
    if not isinstance(algorithm, Algorithm):
        raise TypeError(f"verify takes an Algorithm, not {algorithm!r}")
    operations = {
        "intra": one_group.OPERATIONS,
        "inter": set(two_groups.PREPARE),
        "chain": {"sort"},
        "split": {"split"},
    }.get(algorithm.kind, set())
    if algorithm.operation not in operations:
        some = ", ".join(sorted(operations)) or "none"
        kind, operation = algorithm.kind, algorithm.operation
        raise LookupError(
            f"what an operation {operation!r} of kind {kind!r} must give is not known; of that kind there are {some}"
        )


def _at_large(algorithm: Algorithm, jobs: Sequence[Job]) -> Iterator[tuple[Case, Fault]]:
    """What no single case shows: an algorithm that refuses all, or an order that it claims and refuses."""
    served = [job.case for job in jobs if not job.refused]
    if not served:
        yield Case(1), Fault("fits", "fits refuses every case that was tried", None, None)
    elif algorithm.in_order and algorithm.operation in REDUCING and all(case.commutative for case in served):
        words = "in_order is claimed, and fits refuses every op that does not commute"
        yield served[0], Fault("fits", words, "in_order", "refused")


def _smallest(algorithm: Algorithm, case: Case, fault: Fault, machine: Machine) -> Counterexample:
    """The fault in the smallest case that shows it."""

    def again(candidate: Case) -> Fault | None:
        settings = [] if fault.setting is None else [fault.setting]
        settings = [each._replace(late=min(each.late, candidate.ranks - 1)) for each in settings]
        return next((each for each in faults(algorithm, candidate, machine, settings) if each.what == fault.what), None)

    end = time.monotonic() + SHRINKING
    if fault.what != "endless" and again(case) is not None:
        case = shrunk(case, algorithm.operation, lambda other: time.monotonic() < end and again(other) is not None)
        fault = again(case) or fault
    return made(algorithm, case, fault, machine)
