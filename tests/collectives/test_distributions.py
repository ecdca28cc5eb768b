"""Distributions over p ranks: exact totals for every m and p, and the shape of each distribution."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectives.distributions import DISTRIBUTIONS, Distribution, geometric, half, linear, random, regular, spike

totals = st.integers(0, 10**6)
ranks = st.integers(1, 200)


@pytest.mark.parametrize("distribution", [*DISTRIBUTIONS.values(), random], ids=lambda each: each.__name__)
@given(m=totals, p=ranks)
def test_every_distribution_has_p_sizes_that_add_up_to_m(distribution: Distribution, m: int, p: int) -> None:
    """Including one rank, and fewer elements than ranks."""
    sizes = distribution(m, p)
    assert (len(sizes), sum(sizes)) == (p, m)
    assert min(sizes) >= 0
    assert distribution(m, 1) == (m,)


@given(m=totals, p=ranks)
def test_shapes(m: int, p: int) -> None:
    """Each distribution has the shape that Träff et al. describe, except for rounding."""
    assert max(regular(m, p)) - min(regular(m, p)) <= 1
    assert p == 1 or spike(m, p)[0] - m / 2 in (0, 0.5)
    assert max(spike(m, p)[1:], default=0) - min(spike(m, p)[1:], default=0) <= 1
    assert not any(half(m, p)[1::2])
    assert max(half(m, p)[::2]) - min(half(m, p)[::2]) <= 1
    assert all(left >= right for left, right in pairwise(linear(m, p)))
    assert all(abs(size - 2 * m * (p - i) / (p * (p + 1))) <= 1 for i, size in enumerate(linear(m, p)))
    assert all(size == m // 2 ** (i + 1) for i, size in enumerate(geometric(m, p)[:-1]))


@given(m=st.integers(1000, 10**6), p=st.integers(3, 200), seed=st.integers(0, 1000))
def test_a_random_distribution_depends_on_its_seed_only(m: int, p: int, seed: int) -> None:
    """Equal seeds give equal sizes, different seeds different sizes."""
    assert random(m, p, seed) == random(m, p, seed)
    assert len({random(m, p, seed + more) for more in range(3)}) > 1
