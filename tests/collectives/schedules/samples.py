"""Schedules of all algorithms of the catalogue that can be recorded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from collectives import CATALOGUE, Algorithm, Case
from collectives.schedules import Schedule, record
from collectives.schedules.recording import OPERATIONS
from collectives.verification.cases import some_cases

SENDS_A_BYTE = ("barrier", "smp")
"""The algorithm within a group whose messages have contents that are in no buffer of the caller: one byte, as in MPICH."""

ALGORITHMS = [
    one
    for one in CATALOGUE
    if one.kind == "intra" and one.operation in OPERATIONS and (one.operation, one.name) != SENDS_A_BYTE
]


def cases(algorithm: Algorithm, p: int, number: int) -> list[Case]:
    """Up to `number` cases on p ranks, spread over those that `collectives.verify` tries."""
    found = [case for case in some_cases(algorithm, p) if not case.in_place]
    return found[:: max(1, len(found) // number)][:number]


def one_size_each(number: int = 1, sizes: range = range(2, 18)) -> Iterator[tuple[Algorithm, Case]]:
    """Every algorithm on one number of ranks, such that all of `sizes` occur."""
    for index, algorithm in enumerate(ALGORITHMS):
        for p in (sizes[(index + shift) % len(sizes)] for shift in range(len(sizes))):
            if found := cases(algorithm, p, number):
                yield from ((algorithm, case) for case in found)
                break


@cache
def small() -> list[Schedule]:
    """A schedule that moves data on 2 to 5 ranks, for every algorithm that has one of less than 150 steps."""
    found: dict[str, Schedule] = {}
    for algorithm, case in one_size_each(8, range(3, 6)):
        if f"{algorithm.operation} {algorithm.name}" in found:
            continue
        schedule = record(algorithm, case)
        steps, nbytes = sum(map(len, schedule.steps)), sum(step.nbytes for _, _, step in schedule)
        if 0 < nbytes < 2000 and steps < 150:
            found[schedule.name] = schedule
    return list(found.values())
