"""Make cases from a number of ranks, a number of bytes and a distribution, or from lists of counts."""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Case
from collectives.distributions import Distribution, regular
from collectives.tools.plurals import counted

UNEVEN = ("gatherv", "scatterv", "allgatherv", "reduce_scatter")
PAIRED = ("alltoallv", "alltoallw")
UNSIZED = ("barrier", "split")
"""Operations with a block size per rank, with a block size per pair of ranks, and without data."""


def make_case(operation: str, p: int, q: int, nbytes: int, spread: Distribution = regular) -> Case:
    """Return a case with blocks of `nbytes` bytes, on average if they differ; both groups get equal totals if they must."""
    if operation == "split":
        return Case(p)
    if operation in UNEVEN:
        total = nbytes * p
        total_b = total if _needs_equal_totals(operation) else nbytes * q
        return Case(p, counts=spread(total, p), q=q, counts_b=spread(total_b, q) if q else None)
    if operation in PAIRED:
        others = q or p
        traffic_b = (spread(nbytes * p, p),) * q if q else None
        return Case(p, traffic=(spread(nbytes * others, others),) * p, q=q, traffic_b=traffic_b)
    if q and _needs_equal_totals(operation) and nbytes * p % q:
        raise ValueError(
            f"{operation} on {p} + {q} ranks: {p} blocks of {nbytes} bytes cannot be divided into {q} equal blocks."
        )
    return Case(p, nbytes, q=q, m_b=nbytes * p // q if q and _needs_equal_totals(operation) else nbytes if q else 0)


def counted_case(operation: str, lists: Sequence[Sequence[int]], groups: int = 1) -> Case:
    """Return a case with the given counts, in bytes.

    There is one list per group. For alltoallv and alltoallw, a list has the counts that every rank sends to each rank;
    within one group there may also be one list per rank.

    >>> counted_case("allgatherv", [[5, 0, 3]]).counts
    (5, 0, 3)
    >>> counted_case("alltoallv", [[1, 2], [3, 4]]).traffic
    ((1, 2), (3, 4))
    >>> counted_case("alltoallv", [[1, 2, 3], [4, 5]], groups=2).traffic_b
    ((4, 5), (4, 5), (4, 5))
    """
    if operation not in (*UNEVEN, *PAIRED):
        raise ValueError(f"{operation} has equal blocks: counts are for {', '.join((*UNEVEN, *PAIRED))}.")
    rows = tuple(tuple(row) for row in lists)
    matrix = operation in PAIRED and groups == 1 and len(rows) > 1
    if matrix and any(len(row) != len(rows) for row in rows):
        lengths = ", ".join(str(length) for length in sorted({len(row) for row in rows}))
        raise ValueError(f"{operation}: each of the {len(rows)} lists must have {len(rows)} counts, not {lengths}.")
    if not matrix and len(rows) != groups:
        given = f"{counted(len(rows), 'list')} of counts"
        raise ValueError(f"{operation}: {given} for {counted(groups, 'group')}: one list per group is needed.")
    if matrix:
        return Case(len(rows), traffic=rows)
    if operation in PAIRED and groups == 1:
        return Case(len(rows[0]), traffic=rows * len(rows[0]))
    if operation in PAIRED:
        p, q = len(rows[1]), len(rows[0])
        return Case(p, traffic=rows[:1] * p, q=q, traffic_b=rows[1:] * q)
    if groups == 1:
        return Case(len(rows[0]), counts=rows[0])
    if _needs_equal_totals(operation) and sum(rows[0]) != sum(rows[1]):
        raise ValueError(
            f"{operation}: the totals of the two groups must be equal, not {sum(rows[0])} and {sum(rows[1])} bytes."
        )
    return Case(len(rows[0]), counts=rows[0], q=len(rows[1]), counts_b=rows[1])


def average(case: Case) -> int:
    """Return the average block size of group A in bytes, rounded down."""
    if case.traffic is not None:
        return sum(map(sum, case.traffic)) // sum(map(len, case.traffic)) * case.itemsize
    return sum(case.counts) // case.p * case.itemsize if case.counts is not None else case.m


def _needs_equal_totals(operation: str) -> bool:
    """Return whether the totals of the two groups must be equal."""
    return operation in ("reduce_scatter", "reduce_scatter_block")
