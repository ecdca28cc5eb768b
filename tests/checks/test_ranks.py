"""Ranks in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.checks.ranks import Names, ranks_in_words


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


def born(*groups: tuple[int, str]) -> Names:
    """Names of four that were started, and of groups that were spawned."""
    names = Names()
    names.add(0, "")
    for first, site in groups:
        names.add(first, site)
    return names


def test_those_that_were_started_are_named_by_their_rank() -> None:
    """Which is their number."""
    assert (born().name(3), born().short(3), born().rank(3)) == ("rank 3", "3", 3)
    assert born((4, "a.py:1")).words([0, 1, 3]) == "ranks 0-1 and 3"


def test_those_that_were_spawned_are_named_by_their_group_too() -> None:
    """By where it was spawned; only if there are several of one place are they counted."""
    names = born((4, "a.py:1"), (6, "b.py:2"), (9, "a.py:1"))
    assert [names.name(number) for number in (4, 8, 9)] == [
        "rank 0 of the 1st group spawned at a.py:1",
        "rank 2 of the group spawned at b.py:2",
        "rank 0 of the 2nd group spawned at a.py:1",
    ]
    assert names.words([8, 0, 7, 1, 9]) == (
        "ranks 0-1, ranks 1-2 of the group spawned at b.py:2 and rank 0 of the 2nd group spawned at a.py:1"
    )


def test_groups_are_counted_as_one_says_it() -> None:
    """The 11th, but the 21st; and where there are many, they are not all named."""
    names = born(*((number, "a.py:1") for number in range(4, 130)))
    endings = " ".join(names.name(3 + place).split()[4] for place in (1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111, 113, 123))
    assert endings == "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 101st 111th 113th 123rd"
    assert names.words(range(4, 130), 2) == "rank 0 of the 1st group spawned at a.py:1 and ranks of 125 more groups"


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_every_process_has_a_name_of_its_own(sizes: list[int]) -> None:
    """Whatever was spawned, all at one place."""
    names, first = Names(), 0
    for size in sizes:
        names.add(first, "a.py:1")
        first += size
    assert len({names.name(number) for number in range(first)}) == first
    assert [names.rank(number) for number in range(first)] == [rank for size in sizes for rank in range(size)]
