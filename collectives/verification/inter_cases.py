"""Test cases for algorithms between two groups. Calls with the same p and q yield the same cases in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import lcm

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.verification.cases import PAIRED, REDUCING, ROOTED, Counts, Traffic
from collectives.verification.choices import parameter_choices

SIZES = ((0, 0), (1, 1), (3, 3), (0, 5), (7, 0), (2, 9), (40, 40))
"""Elements of each rank in group A, and of each rank in group B."""

ITEMSIZES = (1, 8, 2, 16, 4)


def inter_cases(algorithm: Algorithm, p: int, q: int) -> Iterator[Case]:
    """Yield cases on p + q ranks, including cases that the algorithm rejects."""
    choices = parameter_choices(algorithm)
    for number, case in enumerate(_cases_by_size(algorithm.operation, p, q)):
        for root in sorted({0, p - 1, number % p}) if algorithm.operation in ROOTED else [0]:
            for commutative in (True, False) if algorithm.operation in REDUCING else (True,):
                for parameters in choices:
                    yield replace(case, root=root, commutative=commutative, parameters=parameters)


def _cases_by_size(operation: str, p: int, q: int) -> Iterator[Case]:
    """Yield cases that differ in block sizes and item sizes; root, op and parameters are the defaults."""
    if operation == "barrier":
        yield Case(p, q=q)
    elif operation == "reduce_scatter":
        for total in (0, 1, 50):
            yield Case(p, counts=(total, *(0,) * (p - 1)), q=q, counts_b=(*(0,) * (q - 1), total), itemsize=8)
            yield Case(p, counts=(total * q,) * p, q=q, counts_b=(total * p,) * q, itemsize=2)
    elif operation == "reduce_scatter_block":
        for count, itemsize in ((0, 8), (1, 1), (3, 4)):
            unit = count * lcm(p, q) * itemsize
            yield Case(p, unit // p, q=q, m_b=unit // q, itemsize=itemsize)
    elif operation in PAIRED:
        for count, itemsize in ((0, 4), (1, 1), (5, 8)):
            yield Case(p, q=q, traffic=_irregular(p, q, count), traffic_b=_irregular(q, p, count + 1), itemsize=itemsize)
        yield Case(p, q=q, traffic=((3,) * q,) * p, traffic_b=((3,) * p,) * q, itemsize=2)
    elif operation in ("gatherv", "scatterv", "allgatherv"):
        for number, (a, b) in enumerate(zip(_spreads(p), reversed(_spreads(q)), strict=True)):
            counts = a if operation == "allgatherv" else None
            yield Case(p, counts=counts, q=q, counts_b=b, itemsize=ITEMSIZES[number % len(ITEMSIZES)])
    else:
        for number, (m, m_b) in enumerate(SIZES):
            itemsize = ITEMSIZES[number % len(ITEMSIZES)]
            if operation == "allreduce":
                m_b = m  # MPI requires equal counts in both groups
            yield Case(p, m * itemsize, q=q, m_b=m_b * itemsize, itemsize=itemsize)


def _irregular(rows: int, columns: int, size: int) -> Traffic:
    return tuple(tuple((3 * r + 5 * s * s) % (size + 1) for s in range(columns)) for r in range(rows))


def _spreads(n: int) -> list[Counts]:
    """Return lists of counts of n ranks: zero, one element, equal, increasing, every second one zero, only the last rank."""
    return [
        (0,) * n,
        (1,) + (0,) * (n - 1),
        (9,) * n,
        tuple(range(n)),
        tuple(30 * (i % 2) for i in range(n)),
        (0,) * (n - 1) + (33,),
    ]
