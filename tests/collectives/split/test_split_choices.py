"""What a split refuses, what it falls back on, and which one is chosen."""

from __future__ import annotations

from typing import Any

import pytest

import fakempi
from collectives import find
from collectives.catalogue.algorithm import DoesNotFit
from collectives.chain.hashing import TURNS, Hashed, one_at_a_time
from collectives.split.best import choose
from fakempi import presets
from tests.collectives.split.harness import SPLITS, run_split, splits
from tests.collectives.split.test_splits import by_real_part, caselessly


def test_zeros_have_the_same_hash_however_many() -> None:
    """So that the test of collisions tests something: twelve turns do not tell them apart, then the digest does."""
    assert {one_at_a_time(bytes(n)) for n in range(20)} == {0}
    hashed = [Hashed(bytes(n), 3) for n in range(20)]
    assert all(len({one.bin(turn) for one in hashed}) == 1 for turn in range(TURNS))
    assert len({one.bin(TURNS) for one in hashed}) > 1


@pytest.mark.parametrize("name", [a.name for a in SPLITS if not a.name.startswith(("hash", "radix"))])
def test_ranks_that_have_another_kind_of_colour_are_told(name: str) -> None:
    """Everybody raises, so nobody hangs."""
    with pytest.raises(fakempi.RankError, match="some colours are whole and some are text; they must be of one kind"):
        run_split(find("split", name), [1, "one", 1], [None] * 3)


def test_what_does_not_fit_is_refused() -> None:
    """With the reason."""
    cases: list[tuple[str, Any, dict[str, Any], str]] = [
        ("radix", "red", {}, "'red' is not a whole number"),
        ("radix", 5, {"bits": (3, 0)}, "5 does not fit in the 3 bits"),
        ("radix", 1, {"compare": by_real_part}, "whole numbers have their own order"),
        ("hash", "red", {"compare": caselessly}, "may be alike and have different hashes"),
        ("hash64", "red", {"bits": 0}, "between 2 and 65,536"),
        ("bitonic", "red", {"widths": (2, 0)}, "'red' has 3 bytes, but the longest was to have 2"),
        ("bitonic", 1 << 64, {}, "does not fit in 64 bits"),
        ("cheng", 1, {"M": 0}, "M = 0 is not positive"),
        ("sack_gropp", 1, {"sorters": 0}, "sorters = 0 is not positive"),
    ]
    for name, color, options, words in cases:
        with pytest.raises(fakempi.RankError, match=words) as caught:
            run_split(find("split", name), [color], [None], **options)
        assert isinstance(caught.value.__cause__, DoesNotFit)


def test_the_chooser_goes_by_size_groups_and_keys() -> None:
    """Everybody sees all, or one where there are keys alone, or nobody; hash without keys, bitonic with them."""
    assert choose(64).name == choose(64, reorder=True).name == "allgather_mpi"
    assert choose(64, chain=True).name == "allgather_group"
    assert choose(300, chain=True).name == choose(500).name == "hash"
    assert choose(300, reorder=True).name == choose(300, compared=True, groups=2).name == "allgather_mpi"
    assert choose(300, chain=True, reorder=True).name == "allgather_group"
    assert choose(300, reorder=True, groups=1).name == choose(600, reorder=True, groups=1).name == "gather_scatter"
    assert choose(1 << 16).name == choose(1 << 16, groups=4).name == "hash"
    assert choose(1 << 16, groups=1 << 16).name == "hash64"
    assert choose(1 << 16, reorder=True).name == choose(1 << 16, compared=True).name == "bitonic"
    best = find("split", "best")
    colors, keys = [rank % 3 for rank in range(20)], [None] * 20
    assert run_split(best, colors, keys, few=4).time == run_split(find("split", "hash"), colors, keys).time
    assert run_split(best, [None] * 20, keys).messages == 0


@pytest.mark.parametrize("machine", [presets.dawn, presets.sierra])
@pytest.mark.parametrize("size", [16, 64, pytest.param(256, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("coloured", "keyed"), [(True, False), (True, True), (False, True)])
def test_what_is_chosen_is_about_the_fastest_there_is(machine: Any, size: int, coloured: bool, keyed: bool) -> None:
    """Within a tenth, on the machines of the paper, where to compare or move an item takes 50 ns."""
    colors = [f"{rank % 4:5}" if coloured else None for rank in range(size)]
    keys = [rank * 7 % size if keyed else None for rank in range(size)]
    options: Any = {"widths": (5, 0) if coloured else None, "work": lambda count: fakempi.compute(count * 50e-9)}
    slow = ("sack_gropp", "radix")  # which have never been the fastest
    names = [each.name for each in splits(colors, keys) if each.name not in slow]
    times = {name: run_split(find("split", name), colors, keys, machine(), **options).time for name in names}
    assert times["best"] <= 1.1 * min(times.values())
