"""Groups, against Python lists; and every way to use them wrongly."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.error_classes import ERR_ARG, ERR_GROUP, ERR_RANK
from fakempi.errors import MPIError, MPITypeError, MPIValueError
from fakempi.mpi.base.constants import IDENT, PROC_NULL, SIMILAR, UNDEFINED, UNEQUAL
from fakempi.mpi.base.current import here
from fakempi.mpi.base.members import Members
from fakempi.mpi.comms.group import GROUP_EMPTY, GROUP_NULL, Group

LISTS = st.lists(st.integers(0, 9), unique=True)


def group_of(numbers: Any, me: int | None = None) -> Group:
    return Group._make(Members.of(numbers), me)


def numbers_of(group: Group) -> list[int]:
    assert group._members is not None
    return list(group._members)


@contextmanager
def running(number: int, world: Group) -> Iterator[None]:
    """As if a rank of this world were running."""
    comm_world = SimpleNamespace(_local=lambda: SimpleNamespace(members=world._members))
    universe = SimpleNamespace(strict=False)
    process = SimpleNamespace(
        number=number, name=f"rank {number - 10}", comm_world=comm_world, universe=universe, duties=None
    )
    here.loop = SimpleNamespace(running=SimpleNamespace(owner=process))
    try:
        yield
    finally:
        here.loop = None


@contextmanager
def fails(words: str, code: int, kind: type[MPIError] = MPIError) -> Iterator[None]:
    """The block must raise an error of this class that says exactly these words."""
    with pytest.raises(kind) as caught:
        yield
    assert (str(caught.value), caught.value.Get_error_class()) == (words, code)


# -- what is in it ---------------------------------------------------------------------------------------------------


@given(LISTS, st.integers(0, 9))
def test_size_and_rank(numbers: list[int], me: int) -> None:
    """A process has a rank in its groups, and UNDEFINED in others."""
    group = group_of(numbers, me)
    assert group.size == group.Get_size() == len(numbers)
    assert group.rank == group.Get_rank() == (numbers.index(me) if me in numbers else UNDEFINED)


def test_nobody_has_a_rank_outside_a_run() -> None:
    """And never in the empty group."""
    assert group_of(range(4)).rank == UNDEFINED
    assert GROUP_EMPTY.rank == UNDEFINED
    assert GROUP_EMPTY.size == 0


@given(LISTS, LISTS, st.data())
def test_ranks_translate_to_the_same_processes(one: list[int], other: list[int], data: st.DataObject) -> None:
    """UNDEFINED where the process is not in the other group; PROC_NULL stays."""
    ranks = data.draw(st.lists(st.sampled_from([PROC_NULL, *range(len(one))])))
    expected = [
        PROC_NULL if rank == PROC_NULL else other.index(one[rank]) if one[rank] in other else UNDEFINED
        for rank in ranks
    ]
    assert group_of(one).Translate_ranks(ranks, group_of(other)) == expected


def test_all_ranks_translate_to_the_world_by_default() -> None:
    """As in mpi4py."""
    world = group_of(range(10, 14))
    with running(11, world):
        assert world.Incl([2, 0]).Translate_ranks() == [2, 0]
        assert world.Incl([2, 0]).Translate_ranks([1]) == [0]
        assert world.Translate_ranks(group=world.Incl([2, 0])) == [1, UNDEFINED, 0, UNDEFINED]
    assert world.Translate_ranks() == [UNDEFINED] * 4  # outside a run the world is another one


@given(LISTS, LISTS)
def test_comparison(one: list[int], other: list[int]) -> None:
    """Same members in the same order, in another, or not the same."""
    expected = IDENT if one == other else SIMILAR if set(one) == set(other) else UNEQUAL
    assert group_of(one).Compare(group_of(other)) == expected


@given(st.permutations(range(5)))
def test_permutations_are_similar(numbers: list[int]) -> None:
    """Or identical."""
    expected = IDENT if numbers == [0, 1, 2, 3, 4] else SIMILAR
    assert group_of(range(5)).Compare(group_of(numbers)) == expected


# -- new groups ------------------------------------------------------------------------------------------------------


@given(LISTS, LISTS)
def test_set_algebra(one: list[int], other: list[int]) -> None:
    """In the orders that MPI prescribes."""
    first, second = group_of(one), group_of(other)
    assert numbers_of(Group.Union(first, second)) == one + [number for number in other if number not in one]
    assert numbers_of(Group.Intersection(first, second)) == [number for number in one if number in other]
    assert numbers_of(Group.Intersect(first, second)) == [number for number in one if number in other]
    assert numbers_of(Group.Difference(first, second)) == [number for number in one if number not in other]


@given(LISTS, st.data())
def test_inclusion_and_exclusion(numbers: list[int], data: st.DataObject) -> None:
    """In the order given, and in the order of the group."""
    group = group_of(numbers)
    ranks = data.draw(st.lists(st.sampled_from(range(len(numbers))), unique=True) if numbers else st.just([]))
    assert numbers_of(group.Incl(ranks)) == [numbers[rank] for rank in ranks]
    assert numbers_of(group.Excl(ranks)) == [number for rank, number in enumerate(numbers) if rank not in ranks]


@given(st.integers(1, 9), st.data())
def test_ranges(size: int, data: st.DataObject) -> None:
    """One range, up or down, whose last rank need not be hit."""
    first, last = data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, size - 1))
    stride = data.draw(st.integers(1, 4)) * (1 if last >= first else -1)
    ranks = list(range(first, last + (1 if stride > 0 else -1), stride))
    group = group_of(range(100, 100 + size))
    assert numbers_of(group.Range_incl([(first, last, stride)])) == [100 + rank for rank in ranks]
    assert numbers_of(group.Range_excl([(first, last, stride)])) == [
        100 + rank for rank in range(size) if rank not in ranks
    ]


def test_several_ranges_follow_each_other() -> None:
    """None at all is a range, too."""
    group = group_of(range(6))
    assert numbers_of(group.Range_incl([(4, 0, -2), (1, 5, 2)])) == [4, 2, 0, 1, 3, 5]
    assert numbers_of(group.Range_excl([(0, 1, 1), (4, 4, 1)])) == [2, 3, 5]
    assert numbers_of(group.Range_incl([(1, 9, 20)])) == [1]
    assert group.Range_incl([]) == GROUP_EMPTY
    assert numbers_of(group.Range_excl([])) == list(range(6))


def test_ranks_may_be_numpys_integers() -> None:
    """Or anything that is an integer."""
    group = group_of(range(4))
    assert numbers_of(group.Incl(np.array([3, 1]))) == [3, 1]  # type: ignore[arg-type]
    assert numbers_of(group.Incl(range(3, 0, -2))) == [3, 1]


def test_a_new_group_belongs_to_the_rank_that_made_it() -> None:
    """Inside a run it has a rank there."""
    world = group_of(range(10, 14))
    with running(12, world):
        assert world.Incl([3, 2]).rank == 1
        assert Group.Difference(world, world.Incl([2])).rank == UNDEFINED
        assert Group.Union(world.Incl([3]), world).rank == 3


def test_groups_of_a_million_are_made_in_no_time_and_space() -> None:
    """Regular pieces of the world are ranges."""
    world = group_of(range(1_000_000), me=7)
    odd = world.Range_incl([(1, 999_999, 2)])
    assert odd.size == 500_000
    assert odd._members is not None
    assert isinstance(odd._members.numbers, range)
    assert numbers_of(world.Incl(range(5, 8))) == [5, 6, 7]


# -- handles ---------------------------------------------------------------------------------------------------------


def test_a_copy_is_the_same_group_and_a_duplicate_is_not() -> None:
    """As with MPI's handles, though both compare as identical."""
    group = group_of(range(4))
    assert Group(group) == group
    assert group.Dup() != group
    assert group.Compare(group.Dup()) == IDENT
    assert group == group_of(range(4)), "a communicator hands out its group again and again"
    assert group.Incl([0]) != group.Incl([0])
    assert group != 3


def test_there_is_one_empty_group_and_one_null() -> None:
    """However they come about."""
    group = group_of(range(4))
    assert group.Incl([]) == group.Excl(range(4)) == Group.Difference(group, group) == GROUP_EMPTY
    assert Group() == GROUP_NULL
    assert GROUP_EMPTY != GROUP_NULL
    assert (bool(GROUP_EMPTY), bool(GROUP_NULL), bool(group)) == (True, False, True)


def test_groups_are_not_hashable() -> None:
    """As in mpi4py."""
    with pytest.raises(TypeError):
        hash(group_of([1]))


def test_freeing_nulls_the_object_alone() -> None:
    """Copies stay, and so does GROUP_EMPTY."""
    group = group_of(range(4))
    copy = Group(group)
    group.Free()
    assert group == GROUP_NULL
    assert copy.size == 4
    copy.free()
    copy.free()
    assert not copy
    GROUP_EMPTY.Free()
    GROUP_EMPTY.free()
    GROUP_NULL.free()
    assert GROUP_EMPTY.size == 0


def test_a_handle_goes_through_an_integer_and_back() -> None:
    """By every name it has."""
    for group in (group_of(range(4)), group_of([0, 1, 3]).Dup(), GROUP_EMPTY, GROUP_NULL):
        number = group.handle
        assert number == group.toint() == group.py2f() == Group(group).handle
        for back in (Group.fromhandle(number), Group.fromint(number), Group.f2py(number)):
            assert back == group
            assert back is not group
    assert GROUP_NULL.handle == 0
    assert group_of([0, 1]).handle != group_of([0, 2]).handle


def test_a_handles_number_is_good_on_its_own_rank() -> None:
    """Ranks share what a group stands for, but each has a rank of its own in it."""
    world = Members.of(range(10, 14))
    groups = {number: Group._make(world, number) for number in (11, 12)}
    for number, group in groups.items():
        with running(number, group):
            assert group.handle
    for number, group in groups.items():
        with running(number, group):
            assert Group.fromhandle(group.handle).rank == group.rank
            assert Group.fromhandle(GROUP_EMPTY.handle) == GROUP_EMPTY
    handle = groups[11].Incl([1, 0]).handle
    with running(12, groups[12]), fails(f"fromhandle on rank 2: no Group has the handle {handle}.", ERR_ARG):
        Group.fromhandle(handle)


def test_handles_that_are_none_are_refused() -> None:
    """Nor do they outlive their group, or its being freed, unless a copy is asked."""
    group = group_of([0, 1, 4])
    number, copy = group.handle, Group(group)
    group.Free()
    with fails(f"fromhandle: no Group has the handle {number}.", ERR_ARG):
        Group.fromhandle(number)
    assert Group.fromhandle(copy.handle) == copy
    assert copy.handle == number
    number = group_of([0, 1, 3]).Dup().handle
    with fails(f"f2py: no Group has the handle {number}.", ERR_ARG):
        Group.f2py(number)
    with fails("fromint: the handle is 'x', not an integer.", ERR_ARG, MPITypeError):
        Group.fromint("x")  # type: ignore[arg-type]


def test_the_predefined_groups_pickle_by_name() -> None:
    """Others mean nothing elsewhere."""
    assert pickle.loads(pickle.dumps(GROUP_EMPTY)) is GROUP_EMPTY
    assert pickle.loads(pickle.dumps(GROUP_NULL)) is GROUP_NULL
    assert pickle.loads(pickle.dumps(Group())) == GROUP_NULL
    with fails("MPI: a Group cannot be pickled: it means nothing to another process.", ERR_GROUP, MPIValueError):
        pickle.dumps(group_of([1]))


def test_subclasses_make_their_own_kind() -> None:
    """As in mpi4py."""

    class Mine(Group):
        pass

    group = Mine(group_of(range(3)))
    assert {type(made) for made in (group.Dup(), group.Incl([0]), Mine.Union(group, group))} == {Mine}


def test_reprs_say_who_and_how_many() -> None:
    """For debugging."""
    assert repr(group_of(range(4), 2)) == "<Group: rank 2 of 4>"
    assert repr(group_of(range(4))) == "<Group: rank None of 4>"
    assert repr(GROUP_NULL) == "<Group: null>"


# -- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [4, -2])
def test_ranks_outside_the_group_are_refused(rank: int) -> None:
    """Wherever ranks are given."""
    group = group_of(range(4))
    for call in (group.Incl, group.Excl, lambda ranks: group.Translate_ranks(ranks, group)):
        name = getattr(call, "__name__", "").replace("<lambda>", "Translate_ranks")
        with fails(f"{name}: rank {rank} is not in the group: its ranks are 0 to 3.", ERR_RANK):
            call([0, rank])
    with fails("Incl: rank 4 is not in the group: its ranks are 0 to 3.", ERR_RANK):
        group.Incl(range(2, 5))


def test_the_empty_group_has_no_ranks() -> None:
    """It is said so."""
    with fails("Incl: rank 0 is not in the group: it is empty.", ERR_RANK):
        GROUP_EMPTY.Incl([0])


@pytest.mark.parametrize("call", ["Incl", "Excl"])
def test_ranks_may_not_come_twice(call: str) -> None:
    """With the places where they do."""
    with fails(f"{call}: rank 1 comes twice, at places 0 and 2 of the list.", ERR_RANK):
        getattr(group_of(range(4)), call)([1, 3, 1])


@pytest.mark.parametrize("call", ["Range_incl", "Range_excl"])
@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ([(0, 3, 0)], "range 0 (0, 3, 0) has stride 0."),
        ([(0, 3, -1)], "range 0 (0, 3, -1) never gets from 0 to 3 by steps of -1."),
        ([(3, 0, 1)], "range 0 (3, 0, 1) never gets from 3 to 0 by steps of 1."),
        ([(0, 1, 1), (2, 4, 2)], "range 1 (2, 4, 2) runs through rank 4, the group has 4 ranks."),
        ([(0, -1, -2)], "range 0 (0, -1, -2) ends at -1, which is negative."),
        ([(-1, 2, 1)], "range 0 (-1, 2, 1) runs through rank -1, the group has 4 ranks."),
        (
            [(0, 3, 1), (2, 2, 1)],
            "rank 2 comes twice: range 0 (0, 3, 1) and range 1 (2, 2, 1) both run through it.",
        ),
    ],
)
def test_ranges_that_do_not_fit_are_refused(call: str, ranges: Any, words: str) -> None:
    """With the range and the numbers that clash."""
    with fails(f"{call}: {words}", ERR_ARG):
        getattr(group_of(range(4)), call)(ranges)


def test_things_of_the_wrong_kind_are_refused() -> None:
    """Ranks, ranges and groups."""
    group = group_of(range(4))
    with fails("Incl: ranks are a sequence of integers, not [1.5].", ERR_ARG, MPITypeError):
        group.Incl([1.5])  # type: ignore[list-item]
    with fails("Translate_ranks: ranks are a sequence of integers, not 0.", ERR_ARG, MPITypeError):
        group.Translate_ranks(0, group)  # type: ignore[arg-type]
    words = "Range_incl: ranges are a sequence of integer triples (first, last, stride), not"
    with fails(f"{words} [(0, 3)].", ERR_ARG, MPIValueError):
        group.Range_incl([(0, 3)])  # type: ignore[list-item]
    with fails(f"{words} [0].", ERR_ARG, MPITypeError):
        group.Range_incl([0])  # type: ignore[list-item]
    with fails("Union: None is not a Group.", ERR_GROUP, MPITypeError):
        Group.Union(group, None)  # type: ignore[arg-type]
    with fails("MPI: cannot make a Group of 3.", ERR_GROUP, MPITypeError):
        Group(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("Get_size", ()),
        ("Get_rank", ()),
        ("Translate_ranks", ([0],)),
        ("Compare", (GROUP_EMPTY,)),
        ("Dup", ()),
        ("Incl", ([],)),
        ("Excl", ([],)),
        ("Range_incl", ([],)),
        ("Range_excl", ([],)),
        ("Free", ()),
    ],
)
def test_null_groups_can_do_nothing(call: str, arguments: tuple[Any, ...]) -> None:
    """GROUP_NULL, and groups that were freed."""
    freed = group_of(range(4)).Dup()
    freed.Free()
    for group in (GROUP_NULL, freed):
        with fails(f"{call}: the group is null: GROUP_NULL, or freed.", ERR_GROUP):
            getattr(group, call)(*arguments)


@pytest.mark.parametrize("call", [Group.Union, Group.Intersection, Group.Difference, Group.Compare])
def test_null_groups_are_no_operands(call: Any) -> None:
    """On either side."""
    for pair in ((GROUP_EMPTY, GROUP_NULL), (GROUP_NULL, GROUP_EMPTY)):
        with fails(f"{call.__name__}: the group is null: GROUP_NULL, or freed.", ERR_GROUP):
            call(*pair)
