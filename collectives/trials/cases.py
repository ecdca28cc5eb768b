"""Cases to try an algorithm on: so many ranks with so many bytes, spread evenly or not, or one's own counts."""

from __future__ import annotations

from collections.abc import Sequence

from collectives.catalogue.algorithm import Case
from collectives.distributions import Distribution, regular

UNEVEN = ("gatherv", "scatterv", "allgatherv", "reduce_scatter")
PAIRED = ("alltoallv", "alltoallw")
UNSIZED = ("barrier", "split")
"""Operations with a block size for each rank, with one for each pair, and with nothing that has a size."""


def make_case(operation: str, p: int, q: int, nbytes: int, spread: Distribution = regular) -> Case:
    """A case with blocks of so many bytes, or of so many on average; between groups both have as many in all."""
    if operation == "split":
        return Case(p)
    if operation in UNEVEN:
        total = nbytes * p
        total_b = total if _same(operation) else nbytes * q
        return Case(p, counts=spread(total, p), q=q, counts_b=spread(total_b, q) if q else None)
    if operation in PAIRED:
        others = q or p
        back = (spread(nbytes * p, p),) * q if q else None
        return Case(p, traffic=(spread(nbytes * others, others),) * p, q=q, traffic_b=back)
    if q and _same(operation) and nbytes * p % q:
        raise ValueError(f"{operation} on {p} + {q} ranks: {p} blocks of {nbytes} bytes are no {q} equal ones.")
    return Case(p, nbytes, q=q, m_b=nbytes * p // q if q and _same(operation) else nbytes if q else 0)


def counted_case(operation: str, lists: Sequence[Sequence[int]], groups: int = 1) -> Case:
    """A case with one's own counts, in bytes.

    One list within a group, and one for each of two groups. Of operations between pairs a list says what every rank sends to
    each; within a group there may also be a list for each rank.

    >>> counted_case("allgatherv", [[5, 0, 3]]).counts
    (5, 0, 3)
    >>> counted_case("alltoallv", [[1, 2], [3, 4]]).traffic
    ((1, 2), (3, 4))
    >>> counted_case("alltoallv", [[1, 2, 3], [4, 5]], groups=2).traffic_b
    ((4, 5), (4, 5), (4, 5))
    """
    if operation not in (*UNEVEN, *PAIRED):
        raise ValueError(f"{operation} has blocks of one size: counts are for {', '.join((*UNEVEN, *PAIRED))}.")
    rows = tuple(tuple(row) for row in lists)
    matrix = operation in PAIRED and groups == 1 and len(rows) > 1
    if matrix and any(len(row) != len(rows) for row in rows):
        lengths = ", ".join(str(length) for length in sorted({len(row) for row in rows}))
        raise ValueError(f"{operation}: {len(rows)} lists must have {len(rows)} counts each, not {lengths}.")
    if not matrix and len(rows) != groups:
        raise ValueError(f"{operation}: there are {len(rows)} lists of counts, and {groups} group{'s' * (groups > 1)}.")
    if matrix:
        return Case(len(rows), traffic=rows)
    if operation in PAIRED and groups == 1:
        return Case(len(rows[0]), traffic=rows * len(rows[0]))
    if operation in PAIRED:
        p, q = len(rows[1]), len(rows[0])
        return Case(p, traffic=rows[:1] * p, q=q, traffic_b=rows[1:] * q)
    if groups == 1:
        return Case(len(rows[0]), counts=rows[0])
    if _same(operation) and sum(rows[0]) != sum(rows[1]):
        raise ValueError(f"{operation}: the two groups must have as many bytes, not {sum(rows[0])} and {sum(rows[1])}.")
    return Case(len(rows[0]), counts=rows[0], q=len(rows[1]), counts_b=rows[1])


def average(case: Case) -> int:
    """Bytes of a block of A's on average, rounded down."""
    if case.traffic is not None:
        return sum(map(sum, case.traffic)) // sum(map(len, case.traffic)) * case.itemsize
    return sum(case.counts) // case.p * case.itemsize if case.counts is not None else case.m


def _same(operation: str) -> bool:
    """Whether the two groups must have the same in all."""
    return operation in ("reduce_scatter", "reduce_scatter_block")
