"""Groups, compared with Python lists; and all errors."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.errors import MPITypeError, MPIValueError
from fakempi.errors.classes import ERR_ARG, ERR_GROUP, ERR_RANK
from fakempi.mpi.base.constants import IDENT, PROC_NULL, SIMILAR, UNDEFINED, UNEQUAL
from fakempi.mpi.base.current import os_thread
from fakempi.mpi.base.members import Members
from fakempi.mpi.comms.group import GROUP_EMPTY, GROUP_NULL, Group
from tests.helpers.runs import fails

LISTS = st.lists(st.integers(0, 9), unique=True)


def group_of(numbers: Any, me: int | None = None) -> Group:
    return Group._make(Members.of(numbers), me)


def numbers_of(group: Group) -> list[int]:
    assert group._members is not None
    return list(group._members)


states: dict[Any, Any] = {}
"""The state of the run that `running` simulates: one run for all calls."""


@contextmanager
def running(number: int, world: Group) -> Iterator[None]:
    """Simulate a running rank of this world."""
    comm_world = SimpleNamespace(_local=lambda: SimpleNamespace(members=world._members))
    universe = SimpleNamespace(strict=False, state=lambda kind: states.setdefault(kind, kind(None)))
    process = SimpleNamespace(
        number=number, name=f"rank {number - 10}", comm_world=comm_world, universe=universe, tracked=None
    )
    os_thread.loop = cast(Any, SimpleNamespace)(running=SimpleNamespace(owner=process))
    try:
        yield
    finally:
        os_thread.loop = None


# -- queries -----------------------------------------------------------------------------------------------------------


@given(LISTS, st.integers(0, 9))
def test_size_and_rank(numbers: list[int], me: int) -> None:
    """A process has a rank in its groups, and UNDEFINED in others."""
    group = group_of(numbers, me)
    assert group.size == group.Get_size() == len(numbers)
    assert group.rank == group.Get_rank() == (numbers.index(me) if me in numbers else UNDEFINED)


def test_a_group_has_no_rank_outside_a_run() -> None:
    """The empty group never has one."""
    assert group_of(range(4)).rank == UNDEFINED
    assert GROUP_EMPTY.rank == UNDEFINED
    assert GROUP_EMPTY.size == 0


@given(LISTS, LISTS, st.data())
def test_ranks_translate_to_the_same_processes(one: list[int], other: list[int], data: st.DataObject) -> None:
    """UNDEFINED if the process is not in the other group; PROC_NULL is kept."""
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
    assert world.Translate_ranks() == [UNDEFINED] * 4  # outside a run the world is different


@given(LISTS, LISTS)
def test_comparison(one: list[int], other: list[int]) -> None:
    """The same members in the same order, in another order, or different ones."""
    expected = IDENT if one == other else SIMILAR if set(one) == set(other) else UNEQUAL
    assert group_of(one).Compare(group_of(other)) == expected


@given(st.permutations(range(5)))
def test_permutations_are_similar(numbers: list[int]) -> None:
    """Or identical."""
    expected = IDENT if numbers == [0, 1, 2, 3, 4] else SIMILAR
    assert group_of(range(5)).Compare(group_of(numbers)) == expected


# -- new groups ------------------------------------------------------------------------------------------------------


@given(LISTS, LISTS)
def test_set_operations(one: list[int], other: list[int]) -> None:
    """In the orders that MPI specifies."""
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
    """One range, ascending or descending, whose last rank need not be reached."""
    first, last = data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, size - 1))
    stride = data.draw(st.integers(1, 4)) * (1 if last >= first else -1)
    ranks = list(range(first, last + (1 if stride > 0 else -1), stride))
    group = group_of(range(100, 100 + size))
    assert numbers_of(group.Range_incl([(first, last, stride)])) == [100 + rank for rank in ranks]
    assert numbers_of(group.Range_excl([(first, last, stride)])) == [
        100 + rank for rank in range(size) if rank not in ranks
    ]


def test_several_ranges_follow_each_other() -> None:
    """An empty list is allowed, too."""
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


def test_a_new_group_belongs_to_the_rank_that_created_it() -> None:
    """Inside a run it has a rank."""
    world = group_of(range(10, 14))
    with running(12, world):
        assert world.Incl([3, 2]).rank == 1
        assert Group.Difference(world, world.Incl([2])).rank == UNDEFINED
        assert Group.Union(world.Incl([3]), world).rank == 3


def test_groups_of_a_million_ranks_take_no_time_and_memory() -> None:
    """Regular parts of the world are ranges."""
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
    """However they are created."""
    group = group_of(range(4))
    assert group.Incl([]) == group.Excl(range(4)) == Group.Difference(group, group) == GROUP_EMPTY
    assert Group() == GROUP_NULL
    assert GROUP_EMPTY != GROUP_NULL
    assert (bool(GROUP_EMPTY), bool(GROUP_NULL), bool(group)) == (True, False, True)


def test_groups_are_not_hashable() -> None:
    """As in mpi4py."""
    with pytest.raises(TypeError):
        hash(group_of([1]))


def test_freeing_affects_one_handle_only() -> None:
    """Copies remain, and so does GROUP_EMPTY."""
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


def test_a_handle_converts_to_an_integer_and_back() -> None:
    """By every method for it."""
    for group in (group_of(range(4)), group_of([0, 1, 3]).Dup(), GROUP_EMPTY, GROUP_NULL):
        number = group.handle
        assert number == group.toint() == group.py2f() == Group(group).handle
        for back in (Group.fromhandle(number), Group.fromint(number), Group.f2py(number)):
            assert back == group
            assert back is not group
    assert GROUP_NULL.handle == 0
    assert group_of([0, 1]).handle != group_of([0, 2]).handle


def test_a_handle_number_is_valid_on_its_own_rank_only() -> None:
    """Ranks share the members of a group, but each has its own rank in it."""
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


def test_invalid_handle_numbers_are_rejected() -> None:
    """They end with their group or its Free, unless it was copied."""
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
    with fails("fromint: arg is 'x', not an integer.", ERR_ARG, MPITypeError):
        Group.fromint("x")  # type: ignore[arg-type]


def test_the_predefined_groups_pickle_by_name() -> None:
    """Others are meaningless in another process."""
    assert pickle.loads(pickle.dumps(GROUP_EMPTY)) is GROUP_EMPTY
    assert pickle.loads(pickle.dumps(GROUP_NULL)) is GROUP_NULL
    assert pickle.loads(pickle.dumps(Group())) == GROUP_NULL
    with fails("Group: a Group cannot be pickled: it is only valid in this process.", ERR_GROUP, MPIValueError):
        pickle.dumps(group_of([1]))


def test_subclasses_create_objects_of_their_class() -> None:
    """As in mpi4py."""

    class Mine(Group):
        pass

    group = Mine(group_of(range(3)))
    assert {type(made) for made in (group.Dup(), group.Incl([0]), Mine.Union(group, group))} == {Mine}


def test_reprs_show_rank_and_size() -> None:
    """For debugging."""
    assert repr(group_of(range(4), 2)) == "<Group: rank 2 of 4>"
    assert repr(group_of(range(4))) == "<Group: rank None of 4>"
    assert repr(GROUP_NULL) == "<Group: null>"


# -- errors --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [4, -2])
def test_ranks_outside_the_group_are_rejected(rank: int) -> None:
    """In every call that takes ranks."""
    group = group_of(range(4))
    for call in (group.Incl, group.Excl, lambda ranks: group.Translate_ranks(ranks, group)):
        name = getattr(call, "__name__", "").replace("<lambda>", "Translate_ranks")
        with fails(f"{name}: rank {rank} is not in the group: its ranks are 0 to 3.", ERR_RANK):
            call([0, rank])
    with fails("Incl: rank 4 is not in the group: its ranks are 0 to 3.", ERR_RANK):
        group.Incl(range(2, 5))


def test_the_empty_group_has_no_ranks() -> None:
    """The message says so."""
    with fails("Incl: rank 0 is not in the group: it is empty.", ERR_RANK):
        GROUP_EMPTY.Incl([0])


@pytest.mark.parametrize("call", ["Incl", "Excl"])
def test_repeated_ranks_are_rejected(call: str) -> None:
    """With their positions."""
    with fails(f"{call}: rank 1 appears twice, at positions 0 and 2 of the list.", ERR_RANK):
        getattr(group_of(range(4)), call)([1, 3, 1])


@pytest.mark.parametrize("call", ["Range_incl", "Range_excl"])
@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ([(0, 3, 0)], "range 0 (0, 3, 0) has stride 0."),
        ([(0, 3, -1)], "range 0 (0, 3, -1) does not get from 0 to 3 with stride -1."),
        ([(3, 0, 1)], "range 0 (3, 0, 1) does not get from 3 to 0 with stride 1."),
        ([(0, 1, 1), (2, 4, 2)], "range 1 (2, 4, 2) includes rank 4, but the group has 4 ranks."),
        ([(0, -1, -2)], "range 0 (0, -1, -2) ends at -1, which is negative."),
        ([(-1, 2, 1)], "range 0 (-1, 2, 1) includes rank -1, but the group has 4 ranks."),
        (
            [(0, 3, 1), (2, 2, 1)],
            "rank 2 appears twice: in range 0 (0, 3, 1) and range 1 (2, 2, 1).",
        ),
    ],
)
def test_invalid_ranges_are_rejected(call: str, ranges: Any, words: str) -> None:
    """With the range and the numbers that clash."""
    with fails(f"{call}: {words}", ERR_ARG):
        getattr(group_of(range(4)), call)(ranges)


def test_arguments_of_the_wrong_type_are_rejected() -> None:
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
    with fails("Group: cannot create a Group from 3.", ERR_GROUP, MPITypeError):
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
def test_null_groups_are_rejected(call: str, arguments: tuple[Any, ...]) -> None:
    """GROUP_NULL, and freed groups."""
    freed = group_of(range(4)).Dup()
    freed.Free()
    for group in (GROUP_NULL, freed):
        with fails(f"{call}: the group is null: GROUP_NULL, or freed.", ERR_GROUP):
            getattr(group, call)(*arguments)


@pytest.mark.parametrize("call", [Group.Union, Group.Intersection, Group.Difference, Group.Compare])
def test_null_groups_are_rejected_as_operands(call: Any) -> None:
    """On either side."""
    for pair in ((GROUP_EMPTY, GROUP_NULL), (GROUP_NULL, GROUP_EMPTY)):
        with fails(f"{call.__name__}: the group is null: GROUP_NULL, or freed.", ERR_GROUP):
            call(*pair)
