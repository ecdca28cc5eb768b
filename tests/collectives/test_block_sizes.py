"""Rules for the block size, compared with the block size of the least claimed time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectives import Case, find
from collectives.block_sizes import best, candidates, fixed, smallest, square_root, square_root_bytes
from collectives.distributions import DISTRIBUTIONS, random
from tests.helpers.breadth import examples

BLOCKED = find("allgatherv", "blocked_ring")
CASES = [
    (name, p, m, t_s)
    for name in ("broadcast", "half", "geometric")
    for p in (8, 24)
    for m, t_s in ((10**5, 100.0), (10**6, 2000.0))
]


def test_the_smallest_block_with_a_threshold() -> None:
    """Rule 1: min m_i, but at least the threshold, which also applies if a rank has no data."""
    assert smallest(at_least=10)((30, 20, 50)) == 20
    assert smallest(at_least=25)((30, 20, 50)) == 25
    assert smallest(at_least=25)((30, 0, 50)) == 25
    assert smallest()((0, 0)) == 1


def test_a_fixed_size_ignores_the_sizes() -> None:
    """Rule 2."""
    assert fixed(32768)((1, 2, 3)) == fixed(32768)(()) == 32768


@given(
    t_s=st.integers(1, 10**4), m=st.integers(1, 10**8), p=st.integers(2, 5000), z=st.integers(0, 5000), t_w=st.integers(1, 9)
)
def test_the_square_root_balances_startup_and_transfer_costs(t_s: int, m: int, p: int, z: int, t_w: int) -> None:
    """Rule 3: (m/B) t_s = (p+z-2)/2 B t_w, rounded down."""
    z = min(z, p - 1)
    size = square_root_bytes(t_s, t_w, m, p, z)
    assert 1 <= size <= m
    if 1 < size < m:
        assert size**2 * t_w * (p + z - 2) <= 2 * t_s * m < (size + 1) ** 2 * t_w * (p + z - 2)


def test_the_square_root_rule_counts_ranks_and_empty_ones() -> None:
    """The rule computes m, p and z from the sizes."""
    assert square_root(100, 1)((5000, 0, 0, 3000)) == square_root_bytes(100, 1, 8000, 4, 2)


def test_without_a_pipeline_there_is_one_block() -> None:
    """One rank, or two ranks that both have data, for any costs; also if bytes cost nothing."""
    assert square_root(100, 1)((5000, 3000)) == 8000
    assert square_root(100, 1)((5000,)) == 5000
    assert square_root(100, 0)((5000, 0, 0)) == 5000
    assert square_root(0, 1)((5000, 0, 0)) == 1


@pytest.mark.quick(3)
@pytest.mark.parametrize(("name", "p", "m", "t_s"), CASES)
def test_the_square_root_rule_is_within_a_tenth_of_the_best(name: str, p: int, m: int, t_s: float) -> None:
    """For distributions in which some ranks have little or no data: at most 1.1 times the least time found."""
    case = Case(p, counts=DISTRIBUTIONS[name](m, p))
    _, least = best(BLOCKED, case, t_s, 1)
    by_rule = BLOCKED.time(Case(p, counts=case.counts, parameters={"block_bytes": square_root(t_s, 1)}), t_s, 1)
    assert by_rule is not None
    assert least <= 1.0001 * by_rule  # the search does not try all sizes
    assert by_rule <= 1.1 * least


@given(p=st.integers(2, 5), m=st.integers(1, 60), seed=st.integers(0, 99), t_s=st.integers(0, 20))
@settings(max_examples=examples(25), deadline=None)
def test_the_candidates_are_within_a_tenth_of_the_best(p: int, m: int, seed: int, t_s: int) -> None:
    """The best candidate takes at most 1.1 times the time of the best of all sizes from 1 to m."""
    case = Case(p, counts=random(m, p, seed))
    _, everywhere = best(BLOCKED, case, t_s, 1, range(1, m + 1))
    size, found = best(BLOCKED, case, t_s, 1)
    assert size in candidates(case)
    assert everywhere <= found <= 1.1 * everywhere


def test_an_algorithm_without_a_claimed_time_raises() -> None:
    """The search compares claimed times."""
    from collectives.simulation import irregular

    with pytest.raises(ValueError, match=r"^<intra allgatherv simulated_cluster_ring> claims no time, so its best"):
        best(irregular(find("allgather", "cluster_ring")), Case(2, counts=(1, 1)), 1, 1)
