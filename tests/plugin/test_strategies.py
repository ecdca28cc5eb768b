"""The strategies: their values and their smallest examples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from fakempi import strategies


@given(st.integers(1, 70).flatmap(lambda most: st.tuples(st.just(most), strategies.sizes(most))))
def test_sizes_are_numbers_of_ranks(drawn: tuple[int, int]) -> None:
    most, size = drawn
    assert 1 <= size <= most


@given(strategies.sizes().flatmap(lambda p: st.tuples(st.just(p), strategies.counts(p), strategies.distributions(p))))
def test_counts_have_one_entry_per_rank_and_are_not_negative(drawn: tuple[int, list[int], list[int]]) -> None:
    p, counts, shares = drawn
    assert len(counts) == len(shares) == p
    assert min(counts) >= 0 <= min(shares)


@pytest.mark.parametrize(
    ("strategy", "fails", "least"),
    [
        (strategies.sizes(64), lambda p: p > 2, 3),
        (strategies.group_pairs(64), lambda pair: pair[0] > pair[1] > 1, (3, 2)),
        (strategies.counts(3), lambda counts: counts[:2] == [0, 0] != counts[1:], [0, 0, 1]),
        (strategies.distributions(4), lambda shares: sum(shares) > 1, [1, 1, 0, 0]),
    ],
)
def test_a_failure_shrinks_to_the_smallest_example(strategy: Any, fails: Callable[[Any], bool], least: Any) -> None:
    assert find(strategy, fails, settings=settings(database=None, max_examples=2000)) == least
