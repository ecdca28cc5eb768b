"""Ranks as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.core.reports.ranks import Names, ranks_text


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
    """At most a dozen of them are named."""
    assert ranks_text(ranks) == words


def test_the_number_of_named_runs_can_be_limited() -> None:
    """The remaining runs are counted."""
    assert ranks_text([0, 2, 4, 6, 8], 3) == "ranks 0, 2 and 3 more"


@given(st.sets(st.integers(0, 30), min_size=1))
def test_every_rank_can_be_recovered_from_the_text(ranks: set[int]) -> None:
    """If all runs are named."""
    noun, _, words = ranks_text(ranks, maximum=99).partition(" ")
    found: list[int] = []
    for run in words.replace(" and ", ", ").split(", "):
        first, _, last = run.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    assert found == sorted(ranks)
    assert noun == ("rank" if len(ranks) == 1 else "ranks")


def names_of(*groups: tuple[int, str]) -> Names:
    """Names of four started ranks, and of spawned groups."""
    names = Names()
    names.add(0, "")
    for first, site in groups:
        names.add(first, site)
    return names


def test_started_ranks_are_named_by_their_number() -> None:
    """It is their rank."""
    assert (names_of().name(3), names_of().short(3), names_of().rank(3)) == ("rank 3", "3", 3)
    assert names_of((4, "a.py:1")).text([0, 1, 3]) == "ranks 0-1 and 3"


def test_spawned_ranks_are_named_with_their_group() -> None:
    """By the place of the spawn; groups of one place are numbered if there are several."""
    names = names_of((4, "a.py:1"), (6, "b.py:2"), (9, "a.py:1"))
    assert [names.name(number) for number in (4, 8, 9)] == [
        "rank 0 of the 1st group spawned at a.py:1",
        "rank 2 of the group spawned at b.py:2",
        "rank 0 of the 2nd group spawned at a.py:1",
    ]
    assert names.text([8, 0, 7, 1, 9]) == (
        "ranks 0-1, ranks 1-2 of the group spawned at b.py:2 and rank 0 of the 2nd group spawned at a.py:1"
    )


def test_groups_have_ordinal_numbers() -> None:
    """11th, but 21st; if there are many, not all are named."""
    names = names_of(*((number, "a.py:1") for number in range(4, 130)))
    endings = " ".join(names.name(3 + place).split()[4] for place in (1, 2, 3, 4, 11, 12, 13, 21, 22, 101, 111, 113, 123))
    assert endings == "1st 2nd 3rd 4th 11th 12th 13th 21st 22nd 101st 111th 113th 123rd"
    assert names.text(range(4, 130), 2) == "rank 0 of the 1st group spawned at a.py:1 and ranks of 125 more groups"


@given(st.lists(st.integers(1, 5), min_size=1, max_size=6))
def test_every_process_has_a_distinct_name(sizes: list[int]) -> None:
    """Also if all were spawned at one place."""
    names, first = Names(), 0
    for size in sizes:
        names.add(first, "a.py:1")
        first += size
    assert len({names.name(number) for number in range(first)}) == first
    assert [names.rank(number) for number in range(first)] == [rank for size in sizes for rank in range(size)]
