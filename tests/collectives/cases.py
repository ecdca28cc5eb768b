"""A Hypothesis strategy for any case that an algorithm serves; the fixed ones are the package's own."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from collectives import Algorithm, Case
from collectives.verification.cases import NEVER_IN_PLACE, PAIRED, REDUCING, ROOTED, UNEVEN, both_ways
from collectives.verification.choices import parameter_choices


@st.composite
def drawn_cases(draw: st.DrawFn, algorithm: Algorithm, largest_p: int = 40) -> Case:
    """Any case that the algorithm serves."""
    operation = algorithm.operation
    p = draw(st.integers(1, largest_p))
    if operation == "barrier":
        case = Case(p)
        return case if algorithm.fits(case) is None else _made_to_fit(algorithm, case)
    case = Case(
        p,
        root=draw(st.integers(0, p - 1)) if operation in ROOTED else 0,
        itemsize=draw(st.sampled_from([1, 2, 4, 8, 16])),
        in_place=operation not in NEVER_IN_PLACE and draw(st.booleans()),
        commutative=operation not in REDUCING or algorithm.fits(Case(1, commutative=False)) is not None,
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
    return case if algorithm.fits(case) is None else _made_to_fit(algorithm, case)


def _made_to_fit(algorithm: Algorithm, case: Case) -> Case:
    """The same case on the next smaller number of ranks that the algorithm serves."""
    for p in range(case.p, 0, -1):
        counts = None if case.counts is None else case.counts[:p]
        traffic = None if case.traffic is None else tuple(row[:p] for row in case.traffic[:p])
        smaller = replace(case, p=p, root=min(case.root, p - 1), counts=counts, traffic=traffic)
        if algorithm.fits(smaller) is None:
            return smaller
    raise AssertionError(f"{algorithm!r} does not even serve one rank")
