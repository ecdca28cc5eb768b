"""Cases that an algorithm supports: the same ones in every call, or drawn by Hypothesis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from collectives import Algorithm, Case
from collectives.verification.cases import (
    NEVER_IN_PLACE,
    PAIRED,
    REDUCING,
    ROOTED,
    UNEVEN,
    both_ways,
    random_cases,
    some_cases,
)
from collectives.verification.choices import parameter_choices


def sampled_cases(algorithm: Algorithm, *ranks: int, count: int = 1) -> Iterator[Case]:
    """Yield up to `count` random cases for each number of ranks; if the algorithm rejects them all, on fewer ranks.

    Cases in place and cases with separate buffers take turns.
    """
    for number, p in enumerate(ranks):
        drawn = [Case(p)] if algorithm.operation == "barrier" else list(random_cases(algorithm, p, 12))
        accepted = [case for case in drawn if algorithm.why_unsupported(case) is None] or list(some_cases(algorithm, p))
        accepted = accepted or [_made_to_fit(algorithm, drawn[0])]
        Random(f"{algorithm.operation} {algorithm.name} {p}").shuffle(accepted)
        accepted.sort(key=lambda case: case.in_place == bool(number % 2))
        yield from accepted[:count]


@st.composite
def drawn_cases(draw: st.DrawFn, algorithm: Algorithm, largest_p: int = 40) -> Case:
    """Draw a case that the algorithm supports."""
    operation = algorithm.operation
    p = draw(st.integers(1, largest_p))
    if operation == "barrier":
        case = Case(p)
        return case if algorithm.why_unsupported(case) is None else _made_to_fit(algorithm, case)
    case = Case(
        p,
        root=draw(st.integers(0, p - 1)) if operation in ROOTED else 0,
        itemsize=draw(st.sampled_from([1, 2, 4, 8, 16])),
        in_place=operation not in NEVER_IN_PLACE and draw(st.booleans()),
        commutative=operation not in REDUCING or algorithm.why_unsupported(Case(1, commutative=False)) is not None,
        parameters=draw(st.sampled_from(parameter_choices(algorithm, p))),
    )
    if case.commutative is False:
        case = replace(case, commutative=draw(st.booleans()))
    if operation in UNEVEN:
        case = replace(case, counts=tuple(draw(st.lists(st.integers(0, 20), min_size=p, max_size=p))))
    elif operation in PAIRED:
        rows = st.lists(st.integers(0, 9), min_size=p, max_size=p).map(tuple)
        traffic = tuple(draw(st.lists(rows, min_size=p, max_size=p)))
        case = replace(case, traffic=both_ways(traffic) if case.in_place else traffic)
    else:
        case = replace(case, m=draw(st.integers(0, 100)) * case.itemsize)
    return case if algorithm.why_unsupported(case) is None else _made_to_fit(algorithm, case)


def _made_to_fit(algorithm: Algorithm, case: Case) -> Case:
    """Return the case on the next smaller number of ranks that the algorithm supports."""
    for p in range(case.p, 0, -1):
        counts = None if case.counts is None else case.counts[:p]
        traffic = None if case.traffic is None else tuple(row[:p] for row in case.traffic[:p])
        lists = {name: value[:p] for name, value in case.parameters.items() if name == "nodes" and isinstance(value, tuple)}
        parameters = {**case.parameters, **lists}
        smaller = replace(case, p=p, root=min(case.root, p - 1), counts=counts, traffic=traffic, parameters=parameters)
        if algorithm.why_unsupported(smaller) is None:
            return smaller
    if case.parameters:  # drawn values may suit no number of ranks, such as ports = 3 of `trivance`
        return _made_to_fit(algorithm, replace(case, parameters={}))
    raise AssertionError(f"{algorithm!r} does not support 1 rank")
