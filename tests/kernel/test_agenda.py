"""The agenda: items in the order of their times, and of booking among equal times."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.kernel.agenda import COMPACT, Agenda

DELAYS = st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=25)


def taken(agenda: Agenda) -> list[Any]:
    """(time, item) of all that is left."""
    found = []
    while (item := agenda.take()) is not None:
        found.append((agenda.now, item))
    return found


def test_an_empty_agenda_gives_nothing_and_time_stands_still() -> None:
    """None, as often as one asks."""
    agenda = Agenda()
    assert agenda.take() is None
    assert agenda.take() is None
    assert agenda.now == 0


def test_items_come_by_time_and_in_booking_order_among_equal_times() -> None:
    """A heap alone would give equal times back in any order."""
    agenda = Agenda()
    for at, item in [(5, "a"), (3, "b"), (5, "c"), (0, "d"), (3, "e"), (0, "f")]:
        agenda.book(at, item)
    assert taken(agenda) == [(0, "d"), (0, "f"), (3, "b"), (3, "e"), (5, "a"), (5, "c")]


@given(DELAYS)
def test_an_agenda_is_a_stable_sort_by_time(delays: list[list[int]]) -> None:
    """Against a list that is sorted anew each time, with bookings between takings."""
    agenda = Agenda()
    waiting: list[tuple[int, int]] = []
    number, now = 0, 0
    for step in [*delays, *([[]] * sum(map(len, delays)))]:
        for delay in step:
            agenda.book(now + delay, number)
            waiting.append((now + delay, number))
            number += 1
        waiting.sort()
        if waiting:
            now, expected = waiting.pop(0)
            assert (agenda.take(), agenda.now) == (expected, now)
    assert agenda.take() is None


@pytest.mark.parametrize("at", [3, 0.25, Fraction(1, 3)])
def test_times_come_out_as_they_went_in(at: Any) -> None:
    """Nothing converts a number, so exact ones stay exact."""
    agenda = Agenda()
    agenda.book(at, "x")
    agenda.take()
    assert agenda.now == at
    assert type(agenda.now) is type(at)


def test_equal_times_of_different_kinds_are_one_time() -> None:
    """1, 1.0 and Fraction(1) keep their booking order."""
    agenda = Agenda()
    times: list[Any] = [Fraction(1), 1, 1.0]
    for item, at in enumerate(times):
        agenda.book(at, item)
    assert [item for _, item in taken(agenda)] == [0, 1, 2]


def test_a_jump_goes_where_nothing_is_booked_before() -> None:
    """To a later time, from which things go on."""
    agenda = Agenda()
    agenda.book(10, "later")
    assert agenda.jump(9)
    assert agenda.now == 9
    agenda.book(9, "now")
    assert taken(agenda) == [(9, "now"), (10, "later")]


@pytest.mark.parametrize("at", [10, 11])
def test_a_jump_does_not_overtake_what_is_booked(at: int) -> None:
    """Not even what is booked for the same time, which was there first."""
    agenda = Agenda()
    agenda.book(10, "first")
    assert not agenda.jump(at)
    assert agenda.now == 0
    assert taken(agenda) == [(10, "first")]


def test_a_jump_does_not_leave_behind_what_is_due_now() -> None:
    """Items of now come first."""
    agenda = Agenda()
    agenda.book(0, "now")
    assert not agenda.jump(1)
    assert taken(agenda) == [(0, "now")]
    assert agenda.jump(1)


def test_clearing_forgets_everything_but_the_time() -> None:
    """What is booked afterwards comes as usual."""
    agenda = Agenda()
    for at in (0, 2, 2, 7):
        agenda.book(at, f"at {at}")
    agenda.take()
    agenda.take()
    agenda.clear()
    assert (agenda.take(), agenda.now) == (None, 2)
    agenda.book(2, "a")
    agenda.book(5, "b")
    assert taken(agenda) == [(2, "a"), (5, "b")]


def test_a_program_that_never_moves_in_time_does_not_grow() -> None:
    """Items of now that have been taken are cut off now and then."""
    agenda = Agenda()
    for number in range(3 * COMPACT + 7):
        agenda.book(0, number)
        assert agenda.take() == number
    assert len(agenda.today) <= COMPACT + 1


def test_cutting_off_the_past_loses_nothing() -> None:
    """More items at one time than are cut off at once."""
    agenda = Agenda()
    for number in range(2 * COMPACT + 7):
        agenda.book(0, number)
    agenda.book(1, "later")
    assert taken(agenda) == [*((0, number) for number in range(2 * COMPACT + 7)), (1, "later")]


def test_times_that_are_over_are_forgotten() -> None:
    """A long run keeps no list for each moment of its past."""
    agenda = Agenda()
    for at in range(1000):
        agenda.book(at, at)
        agenda.take()
    for at in range(1000, 2000):
        agenda.jump(at)
    assert len(agenda.lists) == 1
    assert not agenda.times
