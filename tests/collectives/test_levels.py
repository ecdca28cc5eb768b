"""Units of several levels as chains, and redundancy sets, for any names and sizes of units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fakempi
from collectives import Algorithm
from collectives.chain import NO_RANK
from collectives.chain.collect import addresses
from collectives.chain.derived_chains import Ring
from collectives.levels import Levels, Name, RedundancySet, redundancy_set
from tests.collectives.chain.harness import EXACT, ROUNDS, run_order
from tests.collectives.split.harness import SPLITS, expected, name_of, view_of
from tests.helpers.breadth import examples

Paths = Sequence[tuple[Name, ...]]
NAMES: dict[str, list[Name]] = {
    "strings": ["", "a", "a\0", "b", "node2", "node10", "\0"],
    "numbers": [-7, 0, 1, 1 << 40],
    "bytes": [b"", b"\0", b"\0\0", b"a"],
    "all kinds": ["a", b"a", "", b"", 0, "\0"],
}


@st.composite
def drawn_paths(draw: Any) -> Any:
    """Draw the units of all ranks, on one to three levels."""
    names = NAMES[draw(st.sampled_from(sorted(NAMES)))]
    levels = draw(st.integers(1, 3))
    units = draw(st.lists(st.tuples(*[st.sampled_from(names)] * levels), min_size=1, max_size=8))
    return draw(st.lists(st.sampled_from(units), min_size=1, max_size=24))


def in_order(paths: Paths) -> list[int]:
    """Return the ranks sorted by unit; shorter strings and bytes come first."""

    def order(name: Name) -> tuple[int, int, Any]:
        kind = 0 if isinstance(name, int) else 1 if isinstance(name, str) else 2
        return kind, 0 if isinstance(name, int) else len(name), name

    return sorted(range(len(paths)), key=lambda rank: [order(name) for name in paths[rank]])


def run_levels(paths: Paths, cost: Any = ROUNDS, backend: Any = "auto", **options: Any) -> Any:
    def main(comm: Any) -> tuple[Any, ...]:
        levels = Levels.of(comm, *paths[comm.Get_rank()], **options)
        return view_of(levels.whole), *map(view_of, levels.units)

    return fakempi.run(main, len(paths), cost=cost, backend=backend)


def run_sets(paths: Paths, size: int, cost: Any = ROUNDS, backend: Any = "auto", **options: Any) -> Any:
    """Run redundancy_set; every rank returns its set and the set's members."""

    def main(comm: Any) -> tuple[RedundancySet, list[int]]:
        found = redundancy_set(Levels.of(comm, *paths[comm.Get_rank()]), size, **options)
        return found, addresses(found.chain)

    return fakempi.run(main, len(paths), cost=cost, backend=backend)


def sizes_of_units(paths: Paths) -> list[int]:
    """Return the size of the largest unit of each level."""
    return [max(Counter(path[: level + 1] for path in paths).values()) for level in range(len(paths[0]))]


@given(drawn_paths())
@settings(max_examples=examples(15), deadline=None)
def test_units_equal_the_chains_of_one_split_per_level(paths: Paths) -> None:
    """The colors of these splits are the paths up to the level, and the keys are the positions in the whole chain."""
    place = {rank: at for at, rank in enumerate(in_order(paths))}
    keys = [place[rank] for rank in range(len(paths))]
    depths = range(len(paths[0]) + 1)
    views = [expected([repr(path[:depth]) for path in paths], keys) for depth in depths]
    assert run_levels(paths).returns == list(zip(*views, strict=True))


@pytest.mark.parametrize("split", [each for each in SPLITS if each.name != "radix"], ids=name_of)
def test_all_splits_for_strings_give_the_same_units(split: Algorithm) -> None:
    """The split is a parameter of Levels.of."""
    paths = [(f"psu{rank % 3}", rank * rank % 5) for rank in range(23)]
    assert run_levels(paths, split=split).returns == run_levels(paths).returns


def test_several_levels_need_as_many_messages_as_one() -> None:
    """The messages are longer: one name per level, and two numbers per level in the scan."""
    three = [(f"psu{rank % 2}", f"switch{rank % 4}", f"node{rank % 8}") for rank in range(20)]
    one = [path[-1:] for path in three]
    assert run_levels(three).messages == run_levels(one).messages
    assert run_levels(three).time == run_levels(one).time


@given(drawn_paths(), st.integers(1, 6), st.integers(1, 3), st.integers(0, 2))
@example([("node",)], 1, 1, 0)
@example([("node",)] * 5, 2, 1, 0)
@settings(max_examples=examples(30), deadline=None)
def test_every_set_has_an_equal_share_of_every_unit(paths: Paths, size: int, losses: int, level: int) -> None:
    """The number of sets is maximal and their sizes differ by at most 1; impossible requests raise."""
    p, level = len(paths), level % len(paths[0])
    size = min(size, p)
    sets, largest = p // size, sizes_of_units(paths)
    if largest[level] > losses * sets:
        message = f"has {largest[level]} of {p} ranks, so if it fails, one of the {sets} sets of {size} "
        with pytest.raises(fakempi.RankError, match=message):
            run_sets(paths, size, losses=losses, level=level)
        return
    returns = run_sets(paths, size, losses=losses, level=level).returns
    groups = {found.index: members for found, members in returns}
    assert sorted(groups) == list(range(sets))
    assert sorted(rank for members in groups.values() for rank in members) == list(range(p))
    assert {len(members) for members in groups.values()} <= {p // sets, ceil(p / sets)}
    for rank, (found, members) in enumerate(returns):
        assert members[found.chain.rank] == rank
        assert members == groups[found.index]
        assert (found.sets, found.lost) == (sets, tuple(ceil(each / sets) for each in largest))
    for depth in range(len(paths[0])):
        for unit, ranks in Counter(path[: depth + 1] for path in paths).items():
            taken = [sum(paths[rank][: depth + 1] == unit for rank in members) for members in groups.values()]
            assert set(taken) <= {ranks // sets, ceil(ranks / sets)}


def sets_exist(units: Sequence[int], size: int, losses: int, groups: tuple[tuple[int, ...], ...] = ()) -> bool:
    """Return, by exhaustive search, whether sets of `size` or more exist with at most `losses` ranks of each unit."""
    if not units:
        return all(len(group) >= size for group in groups)
    unit, *rest = units
    return sets_exist(rest, size, losses, (*groups, (unit,))) or any(
        group.count(unit) < losses and sets_exist(rest, size, losses, (*groups[:at], (*group, unit), *groups[at + 1 :]))
        for at, group in enumerate(groups)
    )


@given(st.lists(st.integers(0, 3), min_size=1, max_size=7), st.integers(1, 4), st.integers(1, 2))
@settings(max_examples=examples(25), deadline=None)
def test_rejected_sets_do_not_exist(units: list[int], size: int, losses: int) -> None:
    """An exhaustive search finds no such sets either, including sets of unequal sizes."""
    size = min(size, len(units))
    try:
        run_sets([(unit,) for unit in units], size, losses=losses)
        made = True
    except fakempi.RankError:
        made = False
    assert made == sets_exist(units, size, losses)


def test_the_error_names_the_unit_that_is_too_large_and_the_possible_size() -> None:
    """All ranks raise the same error, so that all can try again."""
    paths = [("psu0" if rank < 5 else f"psu{rank}", f"node{rank}") for rank in range(11)]
    message = (
        "redundancy_set: 'psu0' has 5 of 11 ranks, so if it fails, one of the 3 sets of 3 or more loses 2 members, "
        "but losses = 1; the largest possible size is 2"
    )

    def main(comm: Any) -> tuple[str, int, tuple[int, ...], tuple[int, ...]]:
        levels = Levels.of(comm, *paths[comm.Get_rank()])
        with pytest.raises(ValueError, match="redundancy_set") as refusal:
            redundancy_set(levels, 3)
        twos, threes = redundancy_set(levels, 2), redundancy_set(levels, 3, level=1)
        return str(refusal.value), twos.sets, twos.lost, threes.lost

    assert fakempi.run(main, 11).returns == [(message, 5, (1, 1), (2, 1))] * 11


@pytest.mark.parametrize(("size", "losses"), [(0, 1), (4, 1), (2, 0)])
def test_invalid_sizes_and_losses_raise(size: int, losses: int) -> None:
    """A size above the number of ranks or below 1, and losses below 1."""
    message = f"redundancy_set: size = {size} and losses = {losses} are invalid: size must be 1 to 3 "
    with pytest.raises(fakempi.RankError, match=message):
        run_sets([("a",), ("b",), ("c",)], size, losses=losses)


def test_a_level_that_does_not_exist_raises() -> None:
    """Positive and negative indices."""
    for level in (1, -2):
        message = f"redundancy_set: level {level} does not exist: the number of levels is 1"
        with pytest.raises(fakempi.RankError, match=message):
            run_sets([("a",), ("b",)], 2, level=level)


@pytest.mark.parametrize("name", [None, 1.5, ("a", 1), 1 << 70])
def test_a_name_of_another_type_raises(name: Any) -> None:
    """The error is raised before any message is sent."""
    with pytest.raises(fakempi.RankError, match=r"Levels: invalid unit name .*: use a string, bytes or an integer of 64 "):
        run_levels([(name,)])


def test_different_numbers_of_levels_raise() -> None:
    """All ranks raise, and none blocks."""
    with pytest.raises(fakempi.RankError, match=r"Levels: rank \d passes \d names, and the ranks pass 1 to 2; all ranks "):
        run_levels([("a", "b"), ("a",), ("a", "c")])
    with pytest.raises(fakempi.RankError, match="the ranks pass 0 to 0; all ranks "):
        run_levels([(), ()])


def test_the_neighbors_of_a_ring_are_on_other_units() -> None:
    """A copy on the right neighbor survives the failure of a unit."""
    paths = [(f"psu{rank % 3}", f"node{rank}") for rank in range(13)]

    def main(comm: Any) -> tuple[int, int]:
        ring = Ring.of(redundancy_set(Levels.of(comm, *paths[comm.Get_rank()]), 2).chain)
        return ring.left, ring.right

    for rank, neighbors in enumerate(fakempi.run(main, 13).returns):
        assert all(paths[rank][0] != paths[each][0] for each in neighbors)
        assert NO_RANK not in neighbors


def test_levels_of_a_chain_in_any_order() -> None:
    """Addresses are ranks of its communicator, and the members of a unit are in the chain's order."""
    order = [8, 3, 11, 0, 5, 2]

    def main(chain: Any) -> tuple[list[int], list[int]]:
        levels = Levels.of(chain, chain.address % 2)
        return addresses(levels.units[0]), addresses(redundancy_set(levels, 2).chain)

    even, odd = [8, 0, 2], [3, 11, 5]
    assert run_order(main, order) == [
        (even if rank in even else odd, pair) for rank in order for pair in ([8, 3], [0, 11], [2, 5]) if rank in pair
    ]


def test_both_backends_make_the_same_sets_in_the_same_modeled_time() -> None:
    """The clocks of all ranks are equal."""
    paths = [(f"psu{rank % 4}", f"switch{rank % 8}", f"node{rank * 5 % 16}") for rank in range(40)]
    runs = [run_sets(paths, 3, EXACT, backend) for backend in ("greenlets", "threads")]
    assert [found.index for found, _ in runs[0].returns] == [found.index for found, _ in runs[1].returns]
    assert [members for _, members in runs[0].returns] == [members for _, members in runs[1].returns]
    assert runs[0].clocks == runs[1].clocks
