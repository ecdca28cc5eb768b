"""Ranks in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.checks.ranks import ranks_in_words


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ([3], "rank 3"),
        ([3, 4], "ranks 3-4"),
        ([4, 3, 5, 3], "ranks 3-5"),
        ([0, 2], "ranks 0 and 2"),
        ([9, 0, 2, 3, 4, 5], "ranks 0, 2-5 and 9"),
        (range(4096), "ranks 0-4095"),
        (range(0, 24, 2), "ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 and 22"),
        (range(0, 26, 2), "ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 and 2 more"),
        (range(0, 4096, 2), "ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20 and 2037 more"),
    ],
)
def test_ranks_are_folded_into_runs(ranks: range | list[int], words: str) -> None:
    """And no more than a dozen of them are named."""
    assert ranks_in_words(ranks) == words


def test_as_few_runs_as_one_likes_are_named() -> None:
    """The rest is counted, in runs."""
    assert ranks_in_words([0, 2, 4, 6, 8], 3) == "ranks 0, 2 and 3 more"


@given(st.sets(st.integers(0, 30), min_size=1))
def test_every_rank_can_be_read_off(ranks: set[int]) -> None:
    """If all runs are named."""
    noun, _, words = ranks_in_words(ranks, most=99).partition(" ")
    found: list[int] = []
    for run in words.replace(" and ", ", ").split(", "):
        first, _, last = run.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    assert found == sorted(ranks)
    assert noun == ("rank" if len(ranks) == 1 else "ranks")
