"""Shrink a case that has a fault: fewer ranks first, then fewer bytes, then more default values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import lcm

from collectives.catalogue.case import Case
from collectives.verification.cases import Counts, Traffic, both_ways
from collectives.verification.sort_and_split import SortCase, SplitCase

MAX_TRIES = 400
"""The largest number of smaller cases that are run; each takes a few milliseconds."""


def weight(case: Case) -> tuple[int, ...]:
    """Return the sort key of cases: ranks, bytes, and then the distance from default values."""
    parameters = len(case.parameters), sum(value for value in case.parameters.values() if isinstance(value, int))
    deviations = case.root, case.in_place, not case.commutative, case.itemsize
    different_counts = len({*(case.counts or ()), *(case.counts_b or ())})
    return case.ranks, case.p, total_bytes(case), *parameters, *map(int, deviations), different_counts


def total_bytes(case: Case) -> int:
    traffic = sum(map(sum, (*(case.traffic or ()), *(case.traffic_b or ()))))
    elements = sum(case.counts or ()) + sum(case.counts_b or ()) + traffic
    return case.m * case.p + case.m_b * case.q + elements * case.itemsize


def shrunk(case: Case, operation: str, fails: Callable[[Case], bool]) -> Case:
    """Return the smallest case found for which `fails` returns True."""
    tries = 0
    smaller: Case | None = case
    while smaller is not None:
        case, smaller = smaller, None
        for candidate in candidates(case):
            if tries >= MAX_TRIES:
                return case
            if weight(candidate) < weight(case) and possible(operation, candidate):
                tries += 1
                if fails(candidate):
                    smaller = candidate
                    break
    return case


def candidates(case: Case) -> Iterator[Case]:
    """Yield variations of a case that may be smaller: fewer ranks first, then less data, then more default values."""
    for candidate in _variations(case):
        yield candidate
        if candidate.counts is not None and candidate.counts_b is not None:
            yield replace(candidate, counts_b=(sum(candidate.counts), *(0,) * (candidate.q - 1)))  # as in group A
        elif candidate.m and candidate.m_b:
            unit = lcm(candidate.p, candidate.q) * candidate.itemsize
            yield replace(candidate, m=unit // candidate.p, m_b=unit // candidate.q)


def _variations(case: Case) -> Iterator[Case]:
    yield from _fewer_ranks(case)
    if isinstance(case, SplitCase | SortCase):
        return
    if case.m or case.m_b:
        for elements in _smaller(case.m // case.itemsize):
            size = elements * case.itemsize
            yield replace(case, m=min(case.m, size), m_b=min(case.m_b, size))
            yield replace(case, m=min(case.m, size))
            yield replace(case, m_b=min(case.m_b, size))
    yield from (replace(case, counts=counts) for counts in _smaller_counts(case.counts))
    yield from (replace(case, counts_b=counts) for counts in _smaller_counts(case.counts_b))
    yield from (replace(case, traffic=traffic) for traffic in _smaller_traffic(case.traffic))
    yield from (replace(case, traffic_b=traffic) for traffic in _smaller_traffic(case.traffic_b))
    for name in case.parameters:
        yield replace(case, parameters={key: value for key, value in case.parameters.items() if key != name})
    elements, elements_b = case.m // case.itemsize, case.m_b // case.itemsize
    yield replace(case, itemsize=1, m=elements, m_b=elements_b)
    yield replace(case, itemsize=1)
    yield replace(case, root=0)
    yield replace(case, root=min(case.root, 1))
    yield replace(case, in_place=False)
    yield replace(case, commutative=True)


def _fewer_ranks(case: Case) -> Iterator[Case]:
    pairs = [(p, q) for p in range(1, case.p + 1) for q in (range(1, case.q + 1) if case.q else (0,))]
    for p, q in sorted(pairs, key=lambda pair: (sum(pair), pair))[:-1]:
        for root in dict.fromkeys((min(case.root, p - 1), 0, p - 1)):
            yield _restricted(case, p, q, root)


def _restricted(case: Case, p: int, q: int, root: int) -> Case:
    """Return the case restricted to its first p ranks, and to the first q ranks of the other group."""
    lists = {name: case.parameters.get(name) for name in ("nodes", "costs")}
    parameters = {**case.parameters, **{name: value[:p] for name, value in lists.items() if isinstance(value, Sequence)}}
    if isinstance(case, SplitCase):
        return replace(case, p=p, colors=case.colors[:p], keys=case.keys[:p])
    if isinstance(case, SortCase):
        order = tuple(rank for rank in case.order if rank < p)
        return replace(case, p=p, numbers=case.numbers[:p], order=order)
    columns = q or p  # of the traffic matrix of group A, or of the only group
    return replace(
        case,
        p=p,
        q=q,
        root=root,
        parameters=parameters,
        counts=case.counts and case.counts[:p],
        counts_b=case.counts_b and case.counts_b[:q],
        traffic=case.traffic and tuple(row[:columns] for row in case.traffic[:p]),
        traffic_b=case.traffic_b and tuple(row[:p] for row in case.traffic_b[:q]),
    )


def _smaller(count: int) -> list[int]:
    """Return smaller numbers: few, half, three quarters, seven eighths ..., so that large ones need few steps."""
    return [*dict.fromkeys((0, 1, 2, *(count - (count >> i) for i in range(1, count.bit_length()))))]


def _smaller_counts(counts: Counts | None) -> Iterator[Counts]:
    if not counts:
        return
    yield (0,) * len(counts)
    yield tuple(min(count, 1) for count in counts)
    yield tuple(count // 2 for count in counts)
    for rank, count in enumerate(counts):
        for smaller in _smaller(count):
            if smaller < count:
                yield (*counts[:rank], smaller, *counts[rank + 1 :])


def _smaller_traffic(traffic: Traffic | None) -> Iterator[Traffic]:
    if not traffic:
        return
    widths = [len(row) for row in traffic]
    for counts in _smaller_counts(tuple(count for row in traffic for count in row)):
        remaining = iter(counts)
        yield tuple(tuple(next(remaining) for _ in range(width)) for width in widths)


def possible(operation: str, case: Case) -> bool:
    """Return whether MPI allows such a call.

    Allreduce and reduce_scatter between two groups require the same amount of data in both groups. An alltoallv in place
    requires that each pair of ranks exchanges blocks of equal size.
    """
    if not case.q:
        return not (case.in_place and case.traffic is not None) or both_ways(case.traffic) == case.traffic
    if operation == "reduce_scatter":
        return sum(case.counts or ()) == sum(case.counts_b or ())
    if operation == "reduce_scatter_block":
        return case.p * case.m == case.q * case.m_b
    return operation != "allreduce" or case.m == case.m_b
