"""Allgather between groups by an even cut, and its receive order with buffered sends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Algorithm, Case, find
from tests.collectives.inter.harness import modeled
from tests.collectives.inter.test_kang_claims import (
    FULL_DUPLEX,
    FULL_DUPLEX_V,
    PARTS,
    SIZES,
    claimed,
    lower_bound,
    theorem_3,
)
from tests.helpers.breadth import examples

EVEN_CUT = find("allgather", "even_cut", kind="inter")
EAGER = fakempi.Hockney(t_s=0.0, t_w=1.0)


def bound(case: Case) -> int:
    """M + k_A + k_B + p + q."""
    return lower_bound(case) + case.m + case.m_b + case.p + case.q


@st.composite
def any_groups(draw: Any, largest: int) -> Case:
    """Any p, q, k_A and k_B, with any gather within the groups."""
    k = st.one_of(st.integers(0, 3), st.integers(0, 300))
    parameters = PARTS[draw(st.sampled_from(sorted(PARTS)))]
    p, q = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    return Case(p, draw(k), q=q, m_b=draw(k), parameters=parameters)


@given(case=any_groups(largest=40))
@settings(max_examples=examples(50), deadline=None)
def test_the_claimed_time_is_within_two_blocks_of_the_lower_bound(case: Case) -> None:
    """Analytic: M <= T <= M + k_A + k_B + p + q without start-ups."""
    assert lower_bound(case) <= claimed(EVEN_CUT, case) <= bound(case)


@pytest.mark.parametrize("parts", ["ring", "bruck"])
@given(case=any_groups(largest=40))
@settings(max_examples=examples(25), deadline=None)
def test_a_ring_or_bruck_inside_is_within_one_block_of_the_lower_bound(parts: str, case: Case) -> None:
    """T <= M + max(k_A, k_B) + max(p, q) - 1, the bound of docs/papers/kang.md; without the last terms if sizes divide."""
    time = claimed(EVEN_CUT, replace(case, parameters=PARTS[parts]))
    divides = case.p * case.m % case.q == 0 == case.q * case.m_b % case.p
    assert time <= lower_bound(case) + max(case.m, case.m_b) + (0 if divides else max(case.p, case.q) - 1)


@given(case=any_groups(largest=9))
@settings(max_examples=examples(15), deadline=None)
def test_the_run_takes_the_claimed_time_with_any_buffering(case: Case) -> None:
    """All sends are synchronous, so the eager limit has no effect."""
    assert modeled(EVEN_CUT, case) == modeled(EVEN_CUT, case, EAGER) == claimed(EVEN_CUT, case)


@pytest.mark.parametrize(("p", "q", "most"), [(17, 16, 1.06), (65, 64, 1.02), (50, 14, 1.02), (129, 128, 1.01)])
def test_an_even_cut_is_faster_than_runs_if_q_does_not_divide_p(p: int, q: int, most: float) -> None:
    """For p just above q, some ranks of B receive two blocks of a run and others one; a ring pays for two at every hop."""
    case = Case(p, 65536, q=q, m_b=65536, parameters=PARTS["bruck"])
    assert claimed(EVEN_CUT, case) / lower_bound(case) < most
    if p == q + 1:
        assert claimed(FULL_DUPLEX, Case(p, 65536, q=q, m_b=65536)) / lower_bound(case) > 1.8


@given(a=SIZES, b=SIZES)
@settings(max_examples=examples(20), deadline=None)
def test_theorem_3_holds_with_any_buffering(a: list[int], b: list[int]) -> None:
    """All sends are synchronous, so the eager limit has no effect."""
    case = Case(len(a), counts=tuple(a), q=len(b), counts_b=tuple(b))
    assert modeled(FULL_DUPLEX_V, case, EAGER) == claimed(FULL_DUPLEX_V, case) <= theorem_3(case)


@pytest.mark.parametrize("algorithm", [EVEN_CUT, FULL_DUPLEX_V], ids=repr)
def test_an_unknown_order_is_not_supported(algorithm: Algorithm) -> None:
    """The error lists the known orders."""
    case = Case(2, q=2, counts=(1, 1), counts_b=(1, 1), parameters={"receive_order": "random"})
    assert algorithm.why_unsupported(case) == "receive_order is 'random', not one of multi_target, rank"
