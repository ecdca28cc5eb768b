"""The shared lists of process numbers, compared with plain Python lists."""

from __future__ import annotations

import gc
import sys

from hypothesis import given
from hypothesis import strategies as st

from fakempi.mpi.base import members as members_module
from fakempi.mpi.base.members import EMPTY, Members

NUMBERS = st.lists(st.integers(0, 12), unique=True)
RANGES = st.builds(range, st.integers(0, 30), st.integers(0, 30), st.sampled_from([-3, -2, -1, 1, 2, 3]))
LISTS = st.one_of(NUMBERS, RANGES.map(list))


@given(LISTS)
def test_members_behave_like_a_list(numbers: list[int]) -> None:
    """Length, items, iteration, membership, index."""
    members = Members.of(numbers)
    assert list(members) == numbers
    assert len(members) == len(numbers)
    assert [members[rank] for rank in range(len(numbers))] == numbers
    for number in range(-1, 32):
        assert (number in members) == (number in numbers)
        assert members.index(number) == (numbers.index(number) if number in numbers else None)


@given(LISTS, LISTS)
def test_equal_lists_are_one_object(one: list[int], other: list[int]) -> None:
    """All ranks share one object."""
    first, second = Members.of(one), Members.of(tuple(other))
    assert (first is second) == (one == other)
    assert (first == second) == (one == other)
    assert one != other or hash(first) == hash(second)


@given(LISTS, LISTS)
def test_set_algebra_keeps_mpis_orders(one: list[int], other: list[int]) -> None:
    """The members of the first group come first, in its order."""
    first, second = Members.of(one), Members.of(other)
    assert list(first.union(second)) == one + [number for number in other if number not in one]
    assert list(first.intersection(second)) == [number for number in one if number in other]
    assert list(first.difference(second)) == [number for number in one if number not in other]


@given(LISTS, st.data())
def test_members_can_be_selected_by_ranks(numbers: list[int], data: st.DataObject) -> None:
    """By list and by range, from lists and from ranges."""
    members = Members.of(numbers)
    ranks = data.draw(st.lists(st.sampled_from(range(len(numbers))), unique=True) if numbers else st.just([]))
    assert list(members.take(ranks)) == [numbers[rank] for rank in ranks]
    slices = range(len(numbers))[:: data.draw(st.sampled_from([-2, -1, 1, 2]))]
    assert list(members.take(slices)) == [numbers[rank] for rank in slices]


def test_regular_members_use_no_memory() -> None:
    """A world of a million processes, and every second process of it."""
    world = Members.of(range(1_000_000))
    odd = world.take(range(1, 1_000_000, 2))
    assert isinstance(odd.numbers, range)
    assert odd.index(999_999) == 499_999
    assert odd.index(999_998) is None
    assert sys.getsizeof(odd.numbers) < 100


def test_an_evenly_spaced_list_becomes_a_range() -> None:
    """Ascending, descending, single and empty."""
    for numbers in ([3, 7, 11], [9, 8, 7], [5], [], [4, 1]):
        assert isinstance(Members.of(numbers).numbers, range)
    assert Members.of([0, 1, 3]).numbers == (0, 1, 3)
    assert Members.of([]) is EMPTY


def test_an_operation_of_all_ranks_is_computed_once() -> None:
    """As long as its result exists."""
    one, other = Members.of([0, 1, 3, 9]), Members.of([1, 2, 9])
    assert one.union(other) is one.union(other)
    assert one.union(other) is not one.difference(other)


def test_unused_members_are_forgotten() -> None:
    """The tables of lists and results keep nothing alive."""
    gc.collect()
    before = len(members_module._interned)
    one, other = Members.of([0, 1, 3, 19]), Members.of([1, 2, 19])
    union = one.union(other)
    back = union.difference(other)
    assert len(members_module._interned) > before
    del one, other, union, back
    gc.collect()
    assert len(members_module._interned) == before


def test_their_repr_can_be_evaluated() -> None:
    """It is also readable."""
    for members in (Members.of(range(4)), Members.of([0, 1, 3])):
        assert eval(repr(members)) == members
