"""The cases on which an algorithm is verified, with their settings: the same in every call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification.cases import all_cases, random_cases, rejection
from collectives.verification.choices import invalid_choices
from collectives.verification.fault import BALANCED, EXACT, ROUNDS
from collectives.verification.inter_cases import inter_cases
from collectives.verification.machine import Setting
from collectives.verification.plan.boundary_cases import boundary_cases, cases_on_more_ranks
from collectives.verification.plan.large_cases import few_cases, long_cases
from collectives.verification.shrinking import weight
from collectives.verification.sort_and_split import chain_cases

CASES = 600
"""Default number of cases, without large ones and those at boundaries: five to thirty seconds."""

RANKS = 17
"""Most cases are on up to this number of ranks, unless the user specifies another one."""

MANY_RANKS = 40
"""Default of the largest number of ranks."""

LONG_SHARE = 15
"""For so many cases on a number of ranks, there is another one with long messages."""

EVERY_MODEL = 9
"""Up to this number of ranks, cases run with every cost model; above it, with the first and, in turn, one of the others."""

FEW = 4
"""Up to this number of ranks there are twice as many cases: runs are fast there and show most faults."""

REJECTED_CASES = 3
"""For each number of ranks, the number of cases that the algorithm rejects."""


class VerificationJob(NamedTuple):
    """A case, the settings to run it in, and whether the algorithm rejects it."""

    case: Case
    settings: Sequence[Setting]
    rejected: bool = False


class PlannedCase(NamedTuple):
    """A case to run: in all settings, or in two if it is large, or in one if it is at a boundary."""

    case: Case
    is_large: bool = False
    rejected: bool = False
    at_boundary: bool = False


def make_jobs(algorithm: Algorithm, ranks: int | None, count: int, backends: Sequence[str]) -> list[VerificationJob]:
    """Return about `count` jobs and some large ones, sorted by the number of ranks.

    The jobs are spread evenly over numbers of ranks up to `ranks`. By default, these are numbers up to 17, and the other
    numbers up to 40 have a few cases each.
    """
    planned = [*_cases_on_few_ranks(algorithm, RANKS if ranks is None else ranks, count)]
    planned += _cases_on_many_ranks(algorithm, RANKS if ranks is None else ranks, MANY_RANKS if ranks is None else ranks)
    planned += _cases_at_boundaries(algorithm, ranks, count, [each.case for each in planned if not each.rejected])
    planned.sort(key=lambda each: each.case.ranks)
    return [
        VerificationJob(each.case, _settings(algorithm, each, n, backends), each.rejected) for n, each in enumerate(planned)
    ]


def _cases_on_few_ranks(algorithm: Algorithm, ranks: int, count: int) -> Iterator[PlannedCase]:
    """Yield about `count` cases for the numbers of ranks that most cases have, and long ones on the same ranks."""
    groups = _by_ranks(algorithm, ranks)
    limit = max(1, count // len(groups))
    for cases in groups:
        accepted, rejected = _partition(algorithm, cases)
        most = limit * (2 if cases[0].ranks <= FEW else 1)
        chosen = _sample(accepted, most, seed=cases[0].ranks)
        yield from (PlannedCase(case) for case in sorted(chosen, key=weight))
        yield from (PlannedCase(case, rejected=True) for case in rejected)
        yield from (PlannedCase(case, is_large=True) for case in long_cases(algorithm, cases, limit // LONG_SHARE))


def _cases_on_many_ranks(algorithm: Algorithm, few: int, most: int) -> Iterator[PlannedCase]:
    """Yield a few cases for each number of ranks up to `most`, or to 40, that other cases do not have."""
    if algorithm.kind == "inter":
        for number, pair in enumerate(_more_pairs(few, most)):
            cases = few_cases(algorithm, list(inter_cases(algorithm, *pair)))
            yield from (PlannedCase(case, is_large=True) for case in (cases[number % 2 :] or cases)[:1])
        return
    for p in sorted({*range(1, min(most, MANY_RANKS) + 1)} - {*_numbers(few)}):
        yield from (PlannedCase(case, is_large=True) for case in few_cases(algorithm, _cases_on(algorithm, p)))


def _cases_at_boundaries(
    algorithm: Algorithm, ranks: int | None, count: int, tried: Sequence[Case]
) -> Iterator[PlannedCase]:
    """Yield the cases at boundaries, or a sample of them if `count` is smaller than its default."""
    cases = boundary_cases(algorithm, MANY_RANKS if ranks is None else min(ranks, MANY_RANKS), tried)
    most = -(-len(cases) * count // CASES)
    yield from (PlannedCase(case, at_boundary=True) for case in _sample(cases, most, seed=len(cases)))
    if ranks is None:
        yield from (PlannedCase(case, at_boundary=True) for case in cases_on_more_ranks(algorithm))


def _sample(cases: Sequence[Case], most: int, seed: int) -> Sequence[Case]:
    return Random(seed).sample(cases, most) if len(cases) > most else cases


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
            reason = rejection(algorithm, candidate)
            if reason is not None and len(rejected) < REJECTED_CASES:
                rejected.setdefault(reason, candidate)
            elif reason is None and not choice:
                accepted.append(case)
    return accepted, list(rejected.values())


def _by_ranks(algorithm: Algorithm, ranks: int) -> list[list[Case]]:
    """Return cases for every number of ranks, or for every pair of group sizes."""
    if algorithm.kind == "inter":
        return [list(inter_cases(algorithm, p, q)) for p, q in _pairs(ranks)]
    return [_cases_on(algorithm, p) for p in _numbers(ranks)]


def _cases_on(algorithm: Algorithm, p: int) -> list[Case]:
    if algorithm.kind == "intra":
        return [*all_cases(algorithm, p), *random_cases(algorithm, p, 12)]
    return list(chain_cases(algorithm, p))


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


def _more_pairs(few: int, most: int) -> list[tuple[int, int]]:
    """Return three pairs for each total above `few` up to `most`: almost all ranks in A, in B, and half of them in each."""
    return [
        pair for total in range(few + 1, most + 1) for pair in ((total - 2, 2), (3, total - 3), (total // 2, -(-total // 2)))
    ]


def _settings(algorithm: Algorithm, planned: PlannedCase, number: int, backends: Sequence[str]) -> list[Setting]:
    """Return settings: the model of the claims with several costs, with buffering, and for every sixth job each backend.

    Cases at boundaries have the first of these, with which all claims but the number of rounds are checked. Large cases
    also have one other, but on many ranks only every third one.
    """
    case = planned.case
    if planned.rejected or planned.at_boundary:
        return [EXACT]
    buffered = EXACT._replace(eager_limit=(1 << 20, 64)[number % 2])
    if planned.is_large:
        others = [ROUNDS, BALANCED, buffered._replace(late=number % case.ranks)]
        return [EXACT, *(others[number % 3 :][:1] if case.ranks <= RANKS or case.ranks % 3 == 0 else [])]
    late = range(case.ranks) if algorithm.operation == "barrier" else [number % case.ranks]
    other = [EXACT._replace(backend=backend) for backend in backends[1:]] if number % 6 == 0 else []
    models = [ROUNDS, BALANCED] if case.ranks <= EVERY_MODEL else [(ROUNDS, BALANCED)[number % 2]]
    return [EXACT, *models, *(buffered._replace(late=rank) for rank in late), *other]
