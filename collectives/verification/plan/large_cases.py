"""Large cases: long messages on few ranks, and a few cases for every other number of ranks up to a few dozen.

They are made from small cases by multiplying all sizes by one number, so that they have the same roots, distributions and
number of segments, and every list of counts that MPI allows stays one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from math import ceil
from random import Random

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification.cases import ROOTED, Counts, Traffic, rejection
from collectives.verification.shrinking import total_bytes
from collectives.verification.sort_and_split import moves_data

LONG_BYTES = 65_537
"""Least size of the largest block of a long case: longer than 64 KiB, a common eager limit and segment size."""

LONG_ELEMENTS = 8_193
"""Least number of elements of this block, whatever the size of an element."""

MOST_BYTES = 1 << 24
"""Of all buffers of a long case. Above, elements have one byte each; 40 ranks would have 100 MB and more."""

MOST_MESSAGES = 20_000
"""Of a long case; an algorithm that cuts messages into blocks of a few bytes would run for minutes."""

EVERYTHING_TO_EACH = {"allgather", "allgatherv", "alltoall", "reduce_scatter", "reduce_scatter_block"}
"""Operations in which every rank has a buffer for the blocks of all ranks."""


def largest_block(case: Case) -> int:
    """Return the number of elements of the largest block."""
    rows = [case.counts or (), case.counts_b or (), *(case.traffic or ()), *(case.traffic_b or ())]
    return max(case.m // case.itemsize, case.m_b // case.itemsize, *(size for row in rows for size in row))


def lengthened(case: Case, operation: str) -> Case | None:
    """Return the case with all sizes multiplied, including segment sizes; None if it has no data."""
    elements = largest_block(case)
    if not elements:
        return None
    long = _times(case, ceil(max(LONG_ELEMENTS, LONG_BYTES / case.itemsize) / elements))
    if total_bytes(long) * (case.ranks if operation in EVERYTHING_TO_EACH else 1) <= MOST_BYTES:
        return long
    bytewise = replace(case, itemsize=1, m=case.m // case.itemsize, m_b=case.m_b // case.itemsize)
    return _times(bytewise, ceil(LONG_ELEMENTS / elements))


def _times(case: Case, factor: int) -> Case:
    sizes = {
        name: value * factor for name, value in case.parameters.items() if name.endswith("_bytes") and isinstance(value, int)
    }

    def counts(row: Counts | None) -> Counts | None:
        return row and tuple(size * factor for size in row)

    def traffic(rows: Traffic | None) -> Traffic | None:
        return rows and tuple(tuple(size * factor for size in row) for row in rows)

    return replace(
        case,
        m=case.m * factor,
        m_b=case.m_b * factor,
        counts=counts(case.counts),
        counts_b=counts(case.counts_b),
        traffic=traffic(case.traffic),
        traffic_b=traffic(case.traffic_b),
        parameters={**case.parameters, **sizes},
    )


def long_cases(algorithm: Algorithm, cases: Sequence[Case], number: int) -> list[Case]:
    """Return up to `number` long cases that the algorithm accepts, drawn from small ones."""
    if algorithm.kind not in ("intra", "inter") or algorithm.operation == "barrier":
        return []
    long = (lengthened(case, algorithm.operation) for case in _shuffled(cases))
    return _first(algorithm, (case for case in long if case is not None and has_few_messages(algorithm, case)), number)


def few_cases(algorithm: Algorithm, cases: Sequence[Case]) -> list[Case]:
    """Return a short and a long case that the algorithm accepts; if there are roots, one of them has root 0.

    For sorts and splits, return two cases in which ranks have to move data.
    """
    halves = _shuffled(cases)
    if algorithm.kind not in ("intra", "inter"):
        return _first(algorithm, (case for case in halves if moves_data(case)), 2)
    if algorithm.operation in ROOTED:
        halves.sort(key=lambda case: case.root > 0)  # stable
    middle = sum(case.root == 0 for case in halves) if algorithm.operation in ROOTED else len(halves) // 2
    some, others = halves[:middle], halves[middle:]
    if cases[0].ranks % 2 or not some:
        some, others = others, some
    return [*_first(algorithm, some or others, 1), *long_cases(algorithm, others or some, 1)]


def _shuffled(cases: Sequence[Case]) -> list[Case]:
    return Random(100 * cases[0].p + cases[0].q).sample(cases, len(cases))


def _first(algorithm: Algorithm, cases: Iterable[Case], number: int) -> list[Case]:
    return list(islice((case for case in cases if rejection(algorithm, case) is None), number))


def has_few_messages(algorithm: Algorithm, case: Case, most: int = MOST_MESSAGES) -> bool:
    """Return whether the schedule of a case, if there is one, has at most `most` messages."""
    messages = 0
    try:
        for transfers in algorithm.schedule_for(case) or ():
            messages += max(1, len(transfers))  # a schedule may have rounds without messages, and no end
            if messages > most:
                return False
    except Exception:
        return True  # reported when the case is run
    return True
