"""Cases at boundaries: sizes around powers of two, roots at both ends, segments of about the message's size.

A mistake in one of them is in no drawn case. Each boundary has one case; its other arguments vary with its number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import gcd
from typing import Any

from collectives.catalogue.algorithm import Algorithm
from collectives.catalogue.case import Case
from collectives.distributions import DISTRIBUTIONS
from collectives.verification.cases import NEVER_IN_PLACE, PAIRED, REDUCING, ROOTED, UNEVEN, both_ways, rejection
from collectives.verification.plan.boundaries import (
    LARGEST_INTEGER,
    MORE_RANKS,
    NUMBERS,
    SEGMENTS,
    SIZES,
    roots,
    with_block,
    with_pair,
)
from collectives.verification.plan.boundary_chains import boundary_chains, with_parameters
from collectives.verification.plan.large_cases import EVERYTHING_TO_EACH, MOST_BYTES, has_few_messages
from collectives.verification.shrinking import total_bytes

MOST_MESSAGES = 4_000
"""Of a case at a boundary: there are some hundred cases, and a case with 4,000 messages takes about 0.1 seconds."""

GROUPS = ((3, 0), (4, 0), (2, 0), (5, 0), (8, 0), (7, 0), (6, 0), (1, 0))
PAIRS = ((2, 2), (3, 1), (1, 2), (4, 2), (2, 3), (1, 1), (2, 4), (5, 3))
"""Numbers of ranks of cases in which another argument is at a boundary; (p, q) between two groups."""

MOST_RANKS_OF_CHAINS = 65
"""Sorts and splits have no schedule that states the number of messages."""

FEW = 9
"""Up to this number of ranks, all roots are tried."""


def boundary_cases(algorithm: Algorithm, ranks: int, tried: Iterable[Case]) -> list[Case]:
    """Return cases on up to `ranks` ranks that the algorithm accepts; `tried` are its cases in the rest of the plan."""
    if algorithm.kind not in ("intra", "inter"):
        return [case for case in boundary_chains(algorithm, ranks) if rejection(algorithm, case) is None]
    if algorithm.operation == "barrier":
        return [*_parameters(algorithm, ranks)]
    return [*_sizes(algorithm, ranks), *_roots(algorithm, ranks, tried), *_parameters(algorithm, ranks)]


def sized(operation: str, p: int, q: int, size: int, number: int, itemsize: int = 1) -> Case:
    """Return a case in which a block, a message or the sum of all blocks has `size` elements.

    `number` selects the rank that has the block, the size in the other group, and the values of the other arguments.
    """
    other = SIZES[number // 2 * 7 % len(SIZES)] if q else 0  # all of them in turn: 7 does not divide their number
    case = Case(p, q=q, itemsize=itemsize)
    if operation in ROOTED:
        case = replace(case, root=roots(p)[-1 - number % len(roots(p))])
        other = size  # data move in one direction
    if not q and operation not in NEVER_IN_PLACE:
        case = replace(case, in_place=number % 4 == 1)
    if operation in REDUCING:
        case = replace(case, commutative=number % 3 != 1)
    if operation in UNEVEN:
        return _uneven(operation, case, size, other, number)
    if operation in PAIRED:
        traffic = with_pair(p, q or p, size, number)
        if q:
            return replace(case, traffic=traffic, traffic_b=with_pair(q, p, other, number // 2))
        return replace(case, traffic=both_ways(traffic) if case.in_place else traffic)
    if operation == "reduce_scatter_block" and q:
        return replace(case, m=size * (q // gcd(p, q)) * itemsize, m_b=size * (p // gcd(p, q)) * itemsize)
    m_b = size if operation == "allreduce" else other
    return replace(case, m=size * itemsize, m_b=m_b * itemsize if q else 0)


def _uneven(operation: str, case: Case, size: int, other: int, number: int) -> Case:
    """Return the case with counts: one group has them in gatherv and scatterv, and equal sums in reduce_scatter."""
    if not case.q:
        return replace(case, counts=_counts(case.p, size, number))
    if operation == "reduce_scatter":
        return replace(case, counts=_counts(case.p, size, 2 * number + 1), counts_b=_counts(case.q, size, 2 * number + 5))
    counts = _counts(case.p, size, number) if operation == "allgatherv" else None
    return replace(case, counts=counts, counts_b=_counts(case.q, other, number // 2))


def _counts(p: int, size: int, number: int) -> tuple[int, ...]:
    """Return counts with a block of `size` elements at an end or in the middle; for odd numbers, counts of this sum."""
    if number % 2:
        return [*DISTRIBUTIONS.values()][number // 2 % len(DISTRIBUTIONS)](size, p)
    return with_block(p, size, (p - 1, 0, p // 2)[number % 3])


def _sizes(algorithm: Algorithm, ranks: int) -> Iterator[Case]:
    """Yield a case for each size in bytes, and in elements of 8 bytes."""
    for number, (size, itemsize) in enumerate(product(SIZES, (1, 8))):
        yield from _accepted(algorithm, ranks, number, size=size, itemsize=itemsize)


def _parameters(algorithm: Algorithm, ranks: int) -> Iterator[Case]:
    """Yield cases with values of integer parameters next to the message's size, to p, and to powers of two."""
    number = 0
    for name, default in algorithm.parameters.items():
        if not isinstance(default, int) or isinstance(default, bool):
            continue
        if name.endswith("_bytes"):
            pairs = [(v, 1, k * v + offset) for v in SEGMENTS for k in (1, 2) for offset in (-1, 0, 1)]
            pairs += [(v, 8, v // 8 + offset) for v in SEGMENTS for offset in (0, 1)] + [(LARGEST_INTEGER, 1, 1000)]
        else:
            pairs = [(v, 8, 5 * v) for v in NUMBERS] + [(0, 4, each) for each in range(12)]
        for value, itemsize, size in pairs:
            yield from _accepted(algorithm, ranks, number, {name: value}, size=size, itemsize=itemsize)
            number += 1


def _accepted(
    algorithm: Algorithm, ranks: int, number: int, parameters: Mapping[str, Any] | None = None, *, size: int, itemsize: int
) -> Iterator[Case]:
    """Yield the first case that the algorithm accepts, on the numbers of ranks from the number-th on.

    A parameter of 0 stands for p - 1, p or p + 1, but at least 2: smaller values may be invalid although they are accepted.
    """
    sizes = [each for each in (PAIRS if algorithm.kind == "inter" else GROUPS) if sum(each) <= ranks]
    for p, q in (sizes[(number + turn) % len(sizes)] for turn in range(len(sizes))):
        values = {name: value or max(2, p - 1 + number % 3) for name, value in (parameters or {}).items()}
        case = Case(p, q=q, parameters=values)
        if algorithm.operation != "barrier":
            case = replace(sized(algorithm.operation, p, q, size, number, itemsize), parameters=values)
        accepted = _or_plain(algorithm, case)
        if accepted:
            yield from accepted
            return


def _or_plain(algorithm: Algorithm, case: Case) -> list[Case]:
    """Return the case, or the same case out of place with a commutative op, if the algorithm accepts it and it is small."""
    for each in (case, replace(case, in_place=False, commutative=True)):
        if rejection(algorithm, each) is None:
            is_small = _is_small(algorithm.operation, each) and has_few_messages(algorithm, each, MOST_MESSAGES)
            return [each] if is_small else []
    return []


def _is_small(operation: str, case: Case) -> bool:
    return total_bytes(case) * (case.ranks if operation in EVERYTHING_TO_EACH else 1) <= MOST_BYTES


def _roots(algorithm: Algorithm, ranks: int, tried: Iterable[Case]) -> Iterator[Case]:
    """Yield a short case for every root at a boundary that the other cases do not have."""
    if algorithm.operation not in ROOTED:
        return
    known = {(case.p, case.q, case.root) for case in tried}
    both = 2 if algorithm.kind == "inter" else 0
    for p in range(1, ranks - both + 1):
        for number, root in enumerate(range(p) if p <= FEW else roots(p)):
            case = sized(algorithm.operation, p, both, (p - 1, p, p + 1, 1)[number % 4], number, (4, 1, 8)[number % 3])
            if (p, both, root) not in known:
                yield from _or_plain(algorithm, replace(case, root=root))


def cases_on_more_ranks(algorithm: Algorithm) -> Iterator[Case]:
    """Yield a short case for numbers of ranks around powers of two, if an algorithm sends few messages there.

    Without a schedule, the number of messages is unknown; then there are up to 65 ranks. Two groups have most ranks in A
    or in B.
    """
    is_chain = algorithm.kind in ("split", "chain")
    for number, ranks in enumerate(each for each in MORE_RANKS if each <= MOST_RANKS_OF_CHAINS or not is_chain):
        p = ranks if algorithm.kind != "inter" else (ranks - 1, 1, ranks // 2)[number % 3]
        case = Case(p, q=ranks - p)
        if is_chain:
            case = with_parameters(algorithm, ranks, {})
        elif algorithm.operation != "barrier":
            case = sized(algorithm.operation, p, ranks - p, 3, number)
        yield from _or_plain(algorithm, case)
