"""Invalid arguments of splits, hash collisions, and the choice of an algorithm."""

from __future__ import annotations

from typing import Any

import pytest

import fakempi
from collectives import find
from collectives.catalogue.algorithm import UnsupportedCaseError
from collectives.chain.hashing import JENKINS_ITERATIONS, HashedColor, one_at_a_time
from collectives.split.best import choose
from fakempi import presets
from tests.collectives.split.harness import SPLITS, run_split, splits
from tests.collectives.split.test_splits import by_real_part, ignoring_case
from tests.helpers.breadth import breadth


def test_strings_of_zeros_collide_until_the_digest_is_used() -> None:
    """The test of collisions relies on this: Jenkins' hash of any number of zeros is 0."""
    assert {one_at_a_time(bytes(n)) for n in range(20)} == {0}
    hashed = [HashedColor(bytes(n), 3) for n in range(20)]
    assert all(len({one.bin(iteration) for one in hashed}) == 1 for iteration in range(JENKINS_ITERATIONS))
    assert len({one.bin(JENKINS_ITERATIONS) for one in hashed}) > 1


@pytest.mark.parametrize("name", [a.name for a in SPLITS if not a.name.startswith(("hash", "radix"))])
def test_colors_of_different_types_raise(name: str) -> None:
    """All ranks raise, so none blocks."""
    with pytest.raises(fakempi.RankError, match="the colors have the types integer and string; all ranks must pass "):
        run_split(find("split", name), [1, "one", 1], [None] * 3)


def test_unsupported_arguments_raise_with_the_reason() -> None:
    """Each message has the value and the limit."""
    cases: list[tuple[str, Any, dict[str, Any], str]] = [
        ("radix", "red", {}, "'red' is not an integer"),
        ("radix", 5, {"bits": (3, 0)}, "5 does not fit in the 3 bits"),
        ("radix", 1, {"compare": by_real_part}, "split radix sorts integers in their natural order"),
        ("hash", "red", {"compare": ignoring_case}, "equal by a comparison function may have different hashes"),
        ("hash64", "red", {"bits": 0}, "bits = 0 is not between 1 and 16"),
        ("bitonic", "red", {"widths": (2, 0)}, "'red' has 3 bytes, but widths= specifies at most 2"),
        ("bitonic", 1 << 64, {}, "does not fit in 64 bits"),
        ("cheng", 1, {"M": 0}, "M = 0 is not positive"),
        ("sack_gropp", 1, {"sorters": 0}, "sorters = 0 is not positive"),
    ]
    for name, color, options, message in cases:
        with pytest.raises(fakempi.RankError, match=message) as caught:
            run_split(find("split", name), [color], [None], **options)
        assert isinstance(caught.value.__cause__, UnsupportedCaseError)


def test_the_choice_depends_on_size_groups_and_keys() -> None:
    """An allgather for few processes, a tree for keys only, then hash without keys and bitonic with keys."""
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
    assert run_split(best, colors, keys, max_items=4).time == run_split(find("split", "hash"), colors, keys).time
    assert run_split(best, [None] * 20, keys).messages == 0


MACHINES: list[Any] = [presets.dawn, presets.sierra]


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("machine", "size"),
    [
        *((machine, 40) for machine in MACHINES),
        *(pytest.param(machine, 256, marks=pytest.mark.slow) for machine in breadth(MACHINES[:1], MACHINES)),
    ],
)
@pytest.mark.parametrize(("colored", "keyed"), [(True, False), (True, True), (False, True)])
def test_the_choice_is_within_a_tenth_of_the_fastest(machine: Any, size: int, colored: bool, keyed: bool) -> None:
    """On the machines of the paper, with 50 ns for comparing or moving an item."""
    colors = [f"{rank % 4:5}" if colored else None for rank in range(size)]
    keys = [rank * 7 % size if keyed else None for rank in range(size)]
    options: Any = {"widths": (5, 0) if colored else None, "work": lambda count: fakempi.compute(count * 50e-9)}
    slow = ("sack_gropp", "radix")  # never the fastest
    names = [each.name for each in splits(colors, keys) if each.name not in slow]
    times = {name: run_split(find("split", name), colors, keys, machine(), **options).time for name in names}
    assert times["best"] <= 1.1 * min(times.values())
