"""Which cases an algorithm is verified on, and in which settings: the same ones every time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification.cases import all_cases, odd_cases
from collectives.verification.chains import chain_cases
from collectives.verification.choices import invalid_choices
from collectives.verification.fault import BALANCED, EXACT, ROUNDS
from collectives.verification.group_cases import group_cases
from collectives.verification.machine import Setting
from collectives.verification.shrinking import weight

FEW = 4
"""Ranks with which everything is quick, and most mistakes show: twice as many cases."""

REFUSALS = 3
"""Cases for one number of ranks that the algorithm refuses."""


class Job(NamedTuple):
    """A case, the settings to try it in, and whether the algorithm refuses it."""

    case: Case
    settings: Sequence[Setting]
    refused: bool = False


def planned(algorithm: Algorithm, ranks: int, many: int, carriers: Sequence[str]) -> list[Job]:
    """What is to be tried, in order of ranks: about so many cases, spread evenly over the numbers of ranks."""
    jobs: list[Job] = []
    groups = _by_ranks(algorithm, ranks)
    for cases in groups:
        served, refused = _sorted_out(algorithm, cases)
        most = max(1, many // len(groups)) * (2 if cases[0].ranks <= FEW else 1)
        if len(served) > most:
            served = Random(cases[0].ranks).sample(served, most)
        for case in sorted(served, key=weight):
            jobs.append(Job(case, _settings(algorithm, case, len(jobs), carriers)))
        jobs += [Job(case, [EXACT], refused=True) for case in refused]
    return jobs


def _sorted_out(algorithm: Algorithm, cases: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """The cases that the algorithm serves, and one for each of the first few reasons for which it refuses some."""
    served: list[Case] = []
    refused: dict[str, Case] = {}
    invalid = [{}, *invalid_choices(algorithm)]
    for case in cases:
        for choice in invalid:
            candidate = replace(case, parameters={**case.parameters, **choice})
            reason = _refusal(algorithm, candidate)
            if reason is not None and len(refused) < REFUSALS:
                refused.setdefault(reason, candidate)
            elif reason is None and not choice:
                served.append(case)
    return served, list(refused.values())


def _refusal(algorithm: Algorithm, case: Case) -> str | None:
    try:
        return algorithm.fits(case)
    except Exception:
        return None  # it is told when the case is tried


def _by_ranks(algorithm: Algorithm, ranks: int) -> list[list[Case]]:
    """Cases for every number of ranks, or for every two numbers."""
    if algorithm.kind == "inter":
        return [list(group_cases(algorithm, p, q)) for p, q in _pairs(ranks)]
    if algorithm.kind == "intra":
        return [[*all_cases(algorithm, p), *odd_cases(algorithm, p, 12)] for p in _numbers(ranks)]
    return [list(chain_cases(algorithm, p)) for p in _numbers(ranks)]


def _numbers(largest: int) -> list[int]:
    """Every small one, then those around powers of two and some between."""
    powers = [1 << d for d in range(3, largest.bit_length() + 1)]
    some = {*range(1, 10), *(each for power in powers for each in (power - 1, power, power + 1, power * 3 // 2)), largest}
    return sorted(each for each in some if each <= largest)


def _pairs(total: int) -> list[tuple[int, int]]:
    """Every two numbers that are small, then equal ones, and others of both kinds."""
    found = [(p, both - p) for both in range(2, min(total, 7) + 1) for p in range(1, both)]
    for both in range(8, total + 1):
        found += [(p, both - p) for p in ([both // 2] if both % 2 == 0 else [both // 3, both - both // 3])]
    return found


def _settings(algorithm: Algorithm, case: Case, number: int, carriers: Sequence[str]) -> list[Setting]:
    """The model of the claims with several costs; with buffering; sometimes on another carrier."""
    buffered = EXACT._replace(eager_limit=(1 << 20, 64)[number % 2])
    late = range(case.ranks) if algorithm.operation == "barrier" else [number % case.ranks]
    other = [EXACT._replace(carrier=carrier) for carrier in carriers[1:]] if number % 6 == 0 else []
    return [EXACT, ROUNDS, BALANCED, *(buffered._replace(late=rank) for rank in late), *other]
