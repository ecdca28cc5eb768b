"""verify(): run an algorithm on many cases, smallest first, and return the smallest counterexample of each kind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification import inter_calls, intra_calls
from collectives.verification.bit_claims import wrong_bits
from collectives.verification.cases import REDUCING
from collectives.verification.counterexample import Counterexample, make_counterexample
from collectives.verification.fault import FAILURES, KINDS, AlgorithmFault
from collectives.verification.fault_search import find_faults
from collectives.verification.jobs import run_jobs
from collectives.verification.machine import Machine, installed_machine
from collectives.verification.plan.jobs import CASES, RANKS, VerificationJob, make_jobs
from collectives.verification.plan.message_limit import check_messages
from collectives.verification.plan.tried import tried_lines
from collectives.verification.shrinking import shrunk, weight

MAX_FAILURES = 30
"""Number of failed runs after which no more cases are run; a single run that times out also ends the search."""

SHRINKING_SECONDS = 10.0
"""Limit of wall time for shrinking a case. It usually takes one second; more if smaller cases time out."""

Progress = Callable[[int, int, Case], object]
"""Called before every case with the number of cases run so far, the number planned, and the case."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of a verification: `tried` of `planned` cases, `rejected` of them by `why_unsupported`."""

    algorithm: Algorithm
    planned: int
    tried: int = 0
    rejected: int = 0
    counterexamples: list[Counterexample] = field(default_factory=list)
    ranks: int = 0
    """The largest number of ranks that was tried."""
    scope: Sequence[str] = ()
    """Lines of text: the numbers of ranks, sizes and values of parameters that were tried."""

    @property
    def compared(self) -> list[str]:
        """The quantities that were compared: results, and everything that the algorithm claims."""
        algorithm, scheduled = self.algorithm, self.algorithm.schedule is not None
        claims = {
            "messages": scheduled,
            "bytes": scheduled or algorithm.closed_sent is not None,
            "rounds": scheduled or algorithm.closed_rounds is not None,
            "modeled time": scheduled or algorithm.closed_time is not None,
            "scratch memory": algorithm.kind in ("intra", "inter"),
            "items held": algorithm.holds is not None,
            "bits": "Bits" in algorithm.card,
        }
        return ["results", *(name for name, claimed in claims.items() if claimed)]


def verify(
    algorithm: Algorithm,
    machine: Machine | None = None,
    *,
    ranks: int | None = None,
    cases: int | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> list[Counterexample]:
    """Return counterexamples to an algorithm's claims, smallest first, one for each kind of fault; empty if all hold.

    Parameters
    ----------
    algorithm
        The algorithm to verify.
    machine
        The machine to run it on; by default the one that an installed package provides.
    ranks
        The largest number of ranks, in total if there are two groups. By default, most cases are on up to 17 ranks, and
        every number of ranks up to 40 has a few.
    cases
        The approximate number of cases with short messages on these ranks, 600 by default; for every 15 of them on a
        number of ranks, there is one with messages of more than 64 KiB.
    seconds
        Wall time after which no further case starts; at least one case is run.
    progress
        Called before every case with the number of cases run so far, the number planned, and the case.
    executor
        Any `concurrent.futures.Executor`, including Dask's and mpi4py's; None runs all cases in this process. The
        counterexamples are the same, in the same order.

    Returns
    -------
    list of Counterexample
        `str()` of each has the fault, the case, and the first round in which the run differs from the schedule.

    Raises
    ------
    NoMachineError
        If no machine is passed, and no installed package provides one.
    LookupError
        If the expected results of the algorithm's operation are unknown.

    Examples
    --------
    >>> from collectives import find, verify
    >>> verify(find("barrier", "dissemination"), ranks=4, cases=6)
    []
    """
    machine = machine or installed_machine()
    options: Any = {"ranks": ranks, "cases": cases, "seconds": seconds, "progress": progress, "executor": executor}
    return examine(algorithm, machine, **options).counterexamples


def examine(
    algorithm: Algorithm,
    machine: Machine,
    *,
    ranks: int | None = None,
    cases: int | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Verdict:
    """Verify an algorithm as `verify` does; returns the counterexamples with the numbers of cases."""
    _check_operation(algorithm)
    if ranks is not None and ranks < (2 if algorithm.kind == "inter" else 1):
        least = "2, at least 1 in each group" if algorithm.kind == "inter" else "1"
        raise ValueError(f"verify: ranks = {ranks} is too small; the minimum is {least}")
    check_messages(algorithm, RANKS if ranks is None else ranks)
    start = time.monotonic()
    jobs = make_jobs(algorithm, ranks, CASES if cases is None else cases, machine.backends)
    first: dict[str, tuple[Case, AlgorithmFault]] = {}
    tried = rejected = failed = 0
    with closing(run_jobs(algorithm, jobs, machine, executor)) as results:
        for case, _, is_rejected in jobs:
            if failed >= MAX_FAILURES or (tried and seconds is not None and time.monotonic() - start > seconds):
                break
            if progress is not None:
                progress(tried, len(jobs), case)
            tried += 1
            rejected += is_rejected
            for fault in next(results):
                first.setdefault(fault.kind, (case, fault))
                failed += MAX_FAILURES if fault.kind == "timeout" else fault.kind in FAILURES
    for case, fault in _faults_of_all_cases(algorithm, jobs):
        first.setdefault(fault.kind, (case, fault))
    with machine:
        if not first and (seconds is None or time.monotonic() - start <= seconds):
            for case, fault in wrong_bits(algorithm, machine, RANKS if ranks is None else ranks):
                first.setdefault(fault.kind, (case, fault))
        counterexamples = [_smallest(algorithm, *first[kind], machine) for kind in KINDS if kind in first]
    counterexamples.sort(key=lambda counterexample: weight(counterexample.case)[:3])
    scope = tried_lines(algorithm, [job.case for job in jobs[:tried] if not job.rejected])
    largest = max(job.case.ranks for job in jobs[:tried])
    return Verdict(algorithm, len(jobs), tried, rejected, counterexamples, largest, scope)


def _check_operation(algorithm: Algorithm) -> None:
    if not isinstance(algorithm, Algorithm):
        raise TypeError(f"verify takes an Algorithm, not {algorithm!r}")
    by_kind = {"intra": intra_calls.OPERATIONS, "inter": set(inter_calls.PREPARE), "chain": {"sort"}, "split": {"split"}}
    operations = by_kind.get(algorithm.kind, set())
    if algorithm.operation not in operations:
        known = ", ".join(sorted(operations)) or "none"
        what = f"operation {algorithm.operation!r} of kind {algorithm.kind!r}"
        raise LookupError(f"verify has no expected results for {what}; operations of this kind: {known}")


def _faults_of_all_cases(algorithm: Algorithm, jobs: Sequence[VerificationJob]) -> Iterator[tuple[Case, AlgorithmFault]]:
    """Yield faults that no single case shows: all cases are rejected, or all noncommutative ops despite `in_order`."""
    accepted = [job.case for job in jobs if not job.rejected]
    if not accepted:
        yield Case(1), AlgorithmFault("fits", "why_unsupported() rejects every case that was tried", None, None)
    elif algorithm.in_order and algorithm.operation in REDUCING and all(case.commutative for case in accepted):
        message = "in_order is True, but why_unsupported() rejects every noncommutative op"
        yield accepted[0], AlgorithmFault("fits", message, "in_order", "rejected")


def _smallest(algorithm: Algorithm, case: Case, fault: AlgorithmFault, machine: Machine) -> Counterexample:
    """Return the counterexample of the smallest case found with the fault."""

    def first_fault(candidate: Case) -> AlgorithmFault | None:
        settings = [] if fault.setting is None else [fault.setting]
        settings = [setting._replace(late=min(setting.late, candidate.ranks - 1)) for setting in settings]
        faults = find_faults(algorithm, candidate, machine, settings)
        return next((other for other in faults if other.kind == fault.kind), None)

    end = time.monotonic() + SHRINKING_SECONDS
    if fault.kind != "timeout" and first_fault(case) is not None:
        case = shrunk(case, algorithm.operation, lambda other: time.monotonic() < end and first_fault(other) is not None)
        fault = first_fault(case) or fault
    return make_counterexample(algorithm, case, fault, machine)
