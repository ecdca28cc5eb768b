"""The cases on which an algorithm is verified, with their settings (the same in every call), and their execution."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import replace
from random import Random
from typing import NamedTuple, cast

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.pickling import pack, unpack
from collectives.verification.cases import all_cases, random_cases
from collectives.verification.choices import invalid_choices
from collectives.verification.fault import BALANCED, EXACT, ROUNDS, AlgorithmFault
from collectives.verification.fault_search import find_faults
from collectives.verification.inter_cases import inter_cases
from collectives.verification.machine import Machine, Setting
from collectives.verification.shrinking import weight
from collectives.verification.sort_and_split import chain_cases

CHUNK = 8
"""Jobs that a worker runs at a time: a job takes some milliseconds, and sending it takes about one."""

FEW = 4
"""Up to this number of ranks there are twice as many cases: runs are fast there and show most faults."""

REJECTED_CASES = 3
"""For each number of ranks, the number of cases that the algorithm rejects."""


class VerificationJob(NamedTuple):
    """A case, the settings to run it in, and whether the algorithm rejects it."""

    case: Case
    settings: Sequence[Setting]
    rejected: bool = False


def make_jobs(algorithm: Algorithm, ranks: int, count: int, backends: Sequence[str]) -> list[VerificationJob]:
    """Return about `count` jobs, spread evenly over the numbers of ranks and sorted by these."""
    jobs: list[VerificationJob] = []
    groups = _by_ranks(algorithm, ranks)
    for cases in groups:
        accepted, rejected = _partition(algorithm, cases)
        limit = max(1, count // len(groups)) * (2 if cases[0].ranks <= FEW else 1)
        if len(accepted) > limit:
            accepted = Random(cases[0].ranks).sample(accepted, limit)
        for case in sorted(accepted, key=weight):
            jobs.append(VerificationJob(case, _settings(algorithm, case, len(jobs), backends)))
        jobs += [VerificationJob(case, [EXACT], rejected=True) for case in rejected]
    return jobs


def _partition(algorithm: Algorithm, cases: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """Return the cases that the algorithm accepts, and one rejected case for each of the first few reasons."""
    accepted: list[Case] = []
    rejected: dict[str, Case] = {}
    invalid = [{}, *invalid_choices(algorithm)]
    for case in cases:
        for choice in invalid:
            if choice and len(rejected) == REJECTED_CASES:
                break
            candidate = replace(case, parameters={**case.parameters, **choice}) if choice else case
            reason = _rejection(algorithm, candidate)
            if reason is not None and len(rejected) < REJECTED_CASES:
                rejected.setdefault(reason, candidate)
            elif reason is None and not choice:
                accepted.append(case)
    return accepted, list(rejected.values())


def _rejection(algorithm: Algorithm, case: Case) -> str | None:
    try:
        return algorithm.fits(case)
    except Exception:
        return None  # reported when the case is run


def _by_ranks(algorithm: Algorithm, ranks: int) -> list[list[Case]]:
    """Return cases for every number of ranks, or for every pair of group sizes."""
    if algorithm.kind == "inter":
        return [list(inter_cases(algorithm, p, q)) for p, q in _pairs(ranks)]
    if algorithm.kind == "intra":
        return [[*all_cases(algorithm, p), *random_cases(algorithm, p, 12)] for p in _numbers(ranks)]
    return [list(chain_cases(algorithm, p)) for p in _numbers(ranks)]


def _numbers(largest: int) -> list[int]:
    """Return all numbers of ranks up to 9, then numbers around powers of two and halfway between."""
    powers = [1 << d for d in range(3, largest.bit_length() + 1)]
    some = {
        *range(1, 10),
        *(number for power in powers for number in (power - 1, power, power + 1, power * 3 // 2)),
        largest,
    }
    return sorted(number for number in some if number <= largest)


def _pairs(total: int) -> list[tuple[int, int]]:
    """Return all pairs of group sizes up to 7 ranks in total, then pairs of equal sizes and pairs with ratio 1:2."""
    pairs = [(p, both - p) for both in range(2, min(total, 7) + 1) for p in range(1, both)]
    for both in range(8, total + 1):
        pairs += [(p, both - p) for p in ([both // 2] if both % 2 == 0 else [both // 3, both - both // 3])]
    return pairs


def _settings(algorithm: Algorithm, case: Case, number: int, backends: Sequence[str]) -> list[Setting]:
    """Return settings: the model of the claims with several costs, with buffering, and for every sixth job each backend."""
    buffered = EXACT._replace(eager_limit=(1 << 20, 64)[number % 2])
    late = range(case.ranks) if algorithm.operation == "barrier" else [number % case.ranks]
    other = [EXACT._replace(backend=backend) for backend in backends[1:]] if number % 6 == 0 else []
    return [EXACT, ROUNDS, BALANCED, *(buffered._replace(late=rank) for rank in late), *other]


Chunk = tuple[Algorithm, Machine, Sequence[VerificationJob]]


def run_jobs(
    algorithm: Algorithm, jobs: Sequence[VerificationJob], machine: Machine, executor: Executor | None
) -> Generator[list[AlgorithmFault], None, None]:
    """Yield the faults of each job, in the order of the jobs; closing the generator cancels the remaining jobs.

    In this process, a job runs when its faults are requested. Jobs that cannot be pickled, or that fail on a worker for
    another reason than a fault, run in this process.
    """
    chunks = [jobs[start : start + CHUNK] for start in range(0, len(jobs), CHUNK)]
    futures = [None if executor is None else _submit(executor, (algorithm, machine, chunk)) for chunk in chunks]
    try:
        with machine:
            for chunk, future in zip(chunks, futures, strict=True):
                done = None if future is None else future.result()
                if done is not None:
                    yield from done
                else:
                    for job in chunk:
                        yield list(find_faults(algorithm, job.case, machine, job.settings))
    finally:
        for future in futures:
            if future is not None:
                future.cancel()


def _submit(executor: Executor, chunk: Chunk) -> Future[list[list[AlgorithmFault]] | None] | None:
    data = pack(chunk)
    return None if data is None else executor.submit(run_packed, data)


def run_packed(data: bytes) -> list[list[AlgorithmFault]] | None:
    """Run a chunk of jobs on a worker; returns None if that is not possible there."""
    try:
        algorithm, machine, jobs = cast(Chunk, unpack(data))
        with machine:
            found = [list(find_faults(algorithm, job.case, machine, job.settings)) for job in jobs]
        return found if pack(found) is not None else None
    except Exception:
        return None
