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


def make_case(operation: str, p: int, q: int, nbytes: int, spread: Distribution = regular, itemsize: int = 1) -> Case:
    """Return a case with blocks of `nbytes` bytes, on average if they differ; both groups get equal totals if they must.

    `nbytes` must be a multiple of `itemsize`, the number of bytes of an element.
    """
    if operation == "split":
        return Case(p)
    if nbytes % itemsize:
        raise ValueError(f"{counted(nbytes, 'byte')} is not a whole number of elements of {itemsize} bytes")
    elements = nbytes // itemsize
    if operation in UNEVEN:
        total = elements * p
        counts_b = spread(total if _needs_equal_totals(operation) else elements * q, q) if q else None
        return Case(p, counts=spread(total, p), q=q, counts_b=counts_b, itemsize=itemsize)
    if operation in PAIRED:
        others = q or p
        traffic_b = (spread(elements * p, p),) * q if q else None
        return Case(p, traffic=(spread(elements * others, others),) * p, q=q, traffic_b=traffic_b, itemsize=itemsize)
    if q and _needs_equal_totals(operation) and nbytes * p % q:
        raise ValueError(
            f"{operation} on {p} + {q} ranks: {p} blocks of {nbytes} bytes cannot be divided into {q} equal blocks."
        )
    m_b = nbytes * p // q if q and _needs_equal_totals(operation) else nbytes if q else 0
    return Case(p, nbytes, q=q, m_b=m_b, itemsize=itemsize)


def counted_case(operation: str, lists: Sequence[Sequence[int]], groups: int = 1, itemsize: int = 1) -> Case:
    """Return a case with the given counts, in bytes, which must be multiples of `itemsize`.

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
    odd = next((nbytes for row in lists for nbytes in row if nbytes % itemsize), 0)
    if odd:
        raise ValueError(f"a block of {counted(odd, 'byte')} is not a whole number of elements of {itemsize} bytes")
    rows = tuple(tuple(nbytes // itemsize for nbytes in row) for row in lists)
    matrix = operation in PAIRED and groups == 1 and len(rows) > 1
    if matrix and any(len(row) != len(rows) for row in rows):
        lengths = ", ".join(str(length) for length in sorted({len(row) for row in rows}))
        raise ValueError(f"{operation}: each of the {len(rows)} lists must have {len(rows)} counts, not {lengths}.")
    if not matrix and len(rows) != groups:
        given = f"{counted(len(rows), 'list')} of counts"
        raise ValueError(f"{operation}: {given} for {counted(groups, 'group')}: one list per group is needed.")
    if matrix:
        return Case(len(rows), traffic=rows, itemsize=itemsize)
    if operation in PAIRED and groups == 1:
        return Case(len(rows[0]), traffic=rows * len(rows[0]), itemsize=itemsize)
    if operation in PAIRED:
        p, q = len(rows[1]), len(rows[0])
        return Case(p, traffic=rows[:1] * p, q=q, traffic_b=rows[1:] * q, itemsize=itemsize)
    if groups == 1:
        return Case(len(rows[0]), counts=rows[0], itemsize=itemsize)
    if _needs_equal_totals(operation) and sum(rows[0]) != sum(rows[1]):
        raise ValueError(
            f"{operation}: the totals of the two groups must be equal, not {sum(lists[0])} and {sum(lists[1])} bytes."
        )
    return Case(len(rows[0]), counts=rows[0], q=len(rows[1]), counts_b=rows[1], itemsize=itemsize)


def average(case: Case) -> int:
    """Return the average block size of group A in bytes, rounded down."""
    if case.traffic is not None:
        return sum(map(sum, case.traffic)) // sum(map(len, case.traffic)) * case.itemsize
    return sum(case.counts) // case.p * case.itemsize if case.counts is not None else case.m


def _needs_equal_totals(operation: str) -> bool:
    """Return whether the totals of the two groups must be equal."""
    return operation in ("reduce_scatter", "reduce_scatter_block")
