"""Cases of two groups: the same ones in every call, or drawn by Hypothesis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import lcm
from random import Random

from hypothesis import strategies as st

from collectives import Algorithm, Case
from collectives.verification.cases import PAIRED, REDUCING, ROOTED
from collectives.verification.choices import parameter_choices
from collectives.verification.inter_cases import inter_cases


def sampled_groups(algorithm: Algorithm, *sizes: tuple[int, int], count: int = 2) -> Iterator[Case]:
    """Yield up to `count` cases that the algorithm accepts, for each pair of group sizes.

    Noncommutative ops, where the algorithm accepts them, and commutative ones take turns.
    """
    for number, (p, q) in enumerate(sizes):
        accepted = [case for case in inter_cases(algorithm, p, q) if algorithm.why_unsupported(case) is None]
        Random(f"{algorithm.operation} {algorithm.name} {p} {q}").shuffle(accepted)
        accepted.sort(key=lambda case: case.commutative == bool((number + 1) % 2))
        yield from accepted[:count]


@st.composite
def two_groups(draw: st.DrawFn, algorithm: Algorithm, largest: int = 12) -> Case:
    """A random case of two groups that the algorithm supports."""
    p, q = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    case = replace(
        draw(_sized(algorithm.operation, p, q, draw(st.sampled_from([1, 2, 4, 8, 16])))),
        root=draw(st.integers(0, p - 1)) if algorithm.operation in ROOTED else 0,
        commutative=algorithm.operation not in REDUCING or draw(st.booleans()),
        parameters=dict(draw(st.sampled_from(parameter_choices(algorithm)))),
    )
    if "first" in algorithm.parameters:
        case = replace(case, parameters={**case.parameters, "first": draw(st.sampled_from([True, False, None]))})
        if algorithm.why_unsupported(case) is not None:
            case = replace(case, parameters={**case.parameters, "first": draw(st.booleans())})
    return case if algorithm.why_unsupported(case) is None else replace(case, commutative=True)


@st.composite
def _sized(draw: st.DrawFn, operation: str, p: int, q: int, itemsize: int) -> Case:
    """The sizes of a case, as the operation specifies them."""

    def some(number: int) -> tuple[int, ...]:
        kinds = [st.integers(0, 20), st.sampled_from([0, 0, 0, 50]), st.sampled_from([1, 33])]
        return tuple(draw(st.lists(draw(st.sampled_from(kinds)), min_size=number, max_size=number)))

    def size() -> int:
        return draw(st.integers(0, 40)) * itemsize

    if operation == "barrier":
        return Case(p, q=q)
    if operation in ("gatherv", "scatterv"):
        return Case(p, q=q, counts_b=some(q), itemsize=itemsize)
    if operation == "allgatherv":
        return Case(p, counts=some(p), q=q, counts_b=some(q), itemsize=itemsize)
    if operation == "reduce_scatter":
        counts = some(p)
        cuts = sorted(draw(st.lists(st.integers(0, sum(counts)), min_size=q - 1, max_size=q - 1)))
        ends = zip([0, *cuts], [*cuts, sum(counts)], strict=True)
        return Case(p, counts=counts, q=q, counts_b=tuple(end - start for start, end in ends), itemsize=itemsize)
    if operation == "reduce_scatter_block":
        unit = draw(st.integers(0, 5)) * lcm(p, q) * itemsize
        return Case(p, unit // p, q=q, m_b=unit // q, itemsize=itemsize)
    if operation in PAIRED:
        traffic, back = tuple(some(q) for _ in range(p)), tuple(some(p) for _ in range(q))
        return Case(p, q=q, traffic=traffic, traffic_b=back, itemsize=itemsize)
    m = size()
    return Case(p, m, q=q, m_b=draw(st.sampled_from([m, size()])), itemsize=itemsize)
