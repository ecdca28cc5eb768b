"""A failure shrinks to the first distribution that shows it, in the order of `ordered_cases`, whatever the failure is."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from random import Random
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st

from fakempi import strategies
from fakempi.apps.strategies.distribution_order import LISTED, ordered_cases
from tests.helpers.breadth import breadth

T = TypeVar("T")
Fails = Callable[[list[int]], bool]

FAILURES: dict[str, Fails] = {
    "any": lambda s: True,
    "some rank is empty": lambda s: 0 in s,
    "no rank is empty": lambda s: 0 not in s,
    "rank 0 is empty": lambda s: s[0] == 0,
    "the last rank is empty": lambda s: s[-1] == 0,
    "only the last rank is empty": lambda s: s[-1] == 0 and 0 not in s[:-1],
    "an inner rank is empty": lambda s: 0 in s[1:-1],
    "only an inner rank is empty": lambda s: 0 in s[1:-1] and s[0] > 0 < s[-1],
    "two empty ranks in a row": lambda s: (0, 0) in pairwise(s),
    "empty ranks, no two in a row": lambda s: 0 in s and (0, 0) not in pairwise(s),
    "one rank has all": lambda s: sum(map(bool, s)) == 1,
    "rank 1 has all": lambda s: s[1] == sum(s),
    "the last rank has all": lambda s: s[-1] == sum(s),
    "two ranks have elements": lambda s: sum(map(bool, s)) == 2,
    "half of the ranks have elements": lambda s: 0 < 2 * sum(map(bool, s)) <= len(s),
    "the last block is smaller": lambda s: len(set(s[:-1])) == 1 and s[-1] < s[0],
    "the last block is larger": lambda s: len(set(s[:-1])) == 1 and s[-1] > s[0],
    "the first block is smaller": lambda s: len(set(s[1:])) == 1 and s[0] < s[1],
    "unequal": lambda s: len(set(s)) > 1,
    "unequal, none empty": lambda s: len(set(s)) > 1 and 0 not in s,
    "increasing": lambda s: s == sorted(s) and s[0] < s[-1],
    "decreasing": lambda s: s == sorted(s, reverse=True) and s[0] > s[-1],
    "neither": lambda s: s not in (sorted(s), sorted(s, reverse=True)),
    "a neighbor has twice as many": lambda s: any(b >= 2 * a > 0 for a, b in pairwise(s)),
    "neighbors have half": lambda s: any(2 * (a + b) == sum(s) for a, b in pairwise(s)),
    "ends have more than the middle": lambda s: s[0] + s[-1] > sum(s[1:-1]),
    "the middle has more": lambda s: s[0] + s[-1] < sum(s[1:-1]),
    "differences above one": lambda s: max(s) - min(s) > 1,
    "differences of one": lambda s: max(s) - min(s) == 1,
    "odd on rank 0": lambda s: s[0] % 2 == 1,
    "ranks 0 and 1 differ by one": lambda s: abs(s[0] - s[1]) == 1,
    "one element on one rank": lambda s: 1 in s,
}

SIZES = [(6, 3), (7, 4), (12, 12), (12, 5), (3, 8), (100, 2), (12, 4), (9, 9), (5, 7), (12, 3), (1, 6), (8, 2)]
"""(total, ranks); on the first and on (12, 3), the list has all distributions."""


def smallest(fails: Callable[[list[int]], bool], total: int, ranks: int) -> list[int] | None:
    """Return the first listed distribution that fails: all are tried, as Hypothesis does not."""
    return next((list(shares) for shares in ordered_cases(total, ranks) if fails(list(shares))), None)


def every_distribution(total: int, ranks: int) -> list[list[int]]:
    """Return all lists of `ranks` numbers whose sum is `total`."""
    if ranks == 1:
        return [[total]]
    return [[first, *others] for first in range(total + 1) for others in every_distribution(total - first, ranks - 1)]


def shrunk(strategy: st.SearchStrategy[T], fails: Callable[[T], bool], seed: int) -> T:
    """Return what Hypothesis reports."""
    phases = [Phase.generate, Phase.shrink]  # no explanation, which takes most of the time
    many = settings(database=None, derandomize=False, deadline=None, max_examples=20_000, phases=phases)
    return find(strategy, fails, settings=settings(many, suppress_health_check=list(HealthCheck)), random=Random(seed))


def sizes_of(name: str) -> list[tuple[int, int]]:
    """Return the sizes at which a listed distribution fails, the first ones for other failures than the first ones here."""
    turn = list(FAILURES).index(name)
    sizes = [*SIZES[turn % len(SIZES) :], *SIZES[: turn % len(SIZES)]]
    return [size for size in sizes if smallest(FAILURES[name], *size)]


CASES = [(*size, name) for name in FAILURES for size in sizes_of(name)[: breadth(1, None)]]


@pytest.mark.parametrize(("total", "ranks", "name"), CASES)
def test_a_failure_shrinks_to_the_first_distribution_that_shows_it(total: int, ranks: int, name: str) -> None:
    least = smallest(FAILURES[name], total, ranks)
    for seed in range(breadth(2, 5)):
        assert shrunk(strategies.distributions(total, ranks), FAILURES[name], seed) == least


def test_the_list_has_the_first_distribution_of_every_failure() -> None:
    """If no listed distribution shows one of these failures, none does: all distributions are tried."""
    most = breadth(7, 9)
    for total, ranks in product(range(most), range(2, most)):
        missing = [name for name, fails in FAILURES.items() if not smallest(fails, total, ranks)]
        for shares in every_distribution(total, ranks) if missing else ():
            assert not [name for name in missing if FAILURES[name](shares)], (total, ranks, shares)


@pytest.mark.parametrize(("total", "ranks"), [(6, 3), (12, 3), (4, 4)])
def test_a_short_list_has_every_distribution(total: int, ranks: int) -> None:
    assert sorted(map(list, ordered_cases(total, ranks))) == sorted(every_distribution(total, ranks))


def test_a_long_list_ends() -> None:
    assert len(ordered_cases(10_000, 200)) <= LISTED


LARGER = [pytest.param(*case, marks=pytest.mark.slow) for case in ((12, 12), (1000, 40))]


@pytest.mark.parametrize("seed", range(breadth(1, 30)))
@pytest.mark.parametrize(("total", "ranks"), [(12, 3), *LARGER])
def test_a_single_early_distribution_is_found_whatever_else_fails(total: int, ranks: int, seed: int) -> None:
    """There is no way to it but to try each."""
    cases = [list(shares) for shares in ordered_cases(total, ranks)]
    only, others = sorted(Random(seed).sample(range(len(cases)), 2))
    early = [shares for shares in cases[:others] if shares != cases[only]]
    assert shrunk(strategies.distributions(total, ranks), lambda s: s not in early, seed) == cases[only]


def test_values_that_are_drawn_later_shrink_too() -> None:
    """The first distribution has fewer draws than the others: the later ones follow."""
    both = st.tuples(strategies.distributions(12, 7), st.integers(0, 100))
    least = smallest(FAILURES["an inner rank is empty"], 12, 7)
    for seed in range(breadth(2, 30)):
        assert shrunk(both, lambda drawn: 0 in drawn[0][1:-1] and drawn[1] >= 7, seed) == (least, 7)


def test_distributions_that_are_not_listed_are_drawn() -> None:
    listed = [list(shares) for shares in ordered_cases(9, 5)]
    other = shrunk(strategies.distributions(9, 5), lambda s: s not in listed and s[2] > s[0] > s[4] > 0, 0)
    assert (len(other), sum(other)) == (5, 9)
