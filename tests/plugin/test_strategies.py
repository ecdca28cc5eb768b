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


@given(strategies.sizes().flatmap(
    lambda p: st.tuples(st.just(p), strategies.counts(p), strategies.distributions(strategies.totals(99), p))
))  # fmt: skip
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
        (strategies.ranks(64), lambda p: p > 2, 3),
        (strategies.ranks(64, 5), lambda p: True, 5),
        (strategies.distributions(strategies.totals(), 4), lambda shares: sum(shares) > 1, [2, 0, 0, 0]),
        (strategies.distributions(6, 3), lambda shares: shares[0] == 0, [0, 6, 0]),
        (strategies.distributions(6, 3), lambda shares: max(shares) < 6 and 0 in shares, [0, 3, 3]),
        (strategies.distributions(6, 3), lambda shares: 0 not in shares, [2, 2, 2]),
        (strategies.distributions(6, 3), lambda shares: 0 not in shares and len(set(shares)) > 1, [3, 2, 1]),
        (strategies.distributions(6, 3), lambda shares: shares == [1, 4, 1], [1, 4, 1]),
    ],
)
def test_a_failure_shrinks_to_the_smallest_example(strategy: Any, fails: Callable[[Any], bool], least: Any) -> None:
    assert find(strategy, fails, settings=settings(database=None, max_examples=2000)) == least


@pytest.mark.parametrize(
    ("total", "ranks", "expected"),
    [(0, 2, [[0, 0]]), (3, 1, [[3]]), (2, 2, [[2, 0], [0, 2], [1, 1]]),
     (6, 3, [[6, 0, 0], [0, 6, 0], [0, 0, 6], [0, 3, 3], [3, 3, 0], [2, 2, 2], [3, 2, 1], [1, 2, 3]])],
)  # fmt: skip
def test_the_distributions_that_break_programs(total: int, ranks: int, expected: list[list[int]]) -> None:
    """All on one rank, an empty first or last rank, an even one, and one element too few; each once."""
    assert strategies.edge_distributions(total, ranks) == expected


def test_wrong_arguments_are_rejected() -> None:
    """When the strategy is made, not when a value is drawn."""
    with pytest.raises(ValueError, match=r"ranks: min_size is 3 and max_size is 2; use 1 <= min_size <= max_size\."):
        strategies.ranks(2, 3)
    with pytest.raises(ValueError, match=r"distributions: -1 elements on 2 ranks; use at least 0 elements and 1 rank\."):
        strategies.distributions(-1, 2)
