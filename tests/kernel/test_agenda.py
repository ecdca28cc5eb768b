"""The agenda: items in the order of their times; at one time actions in booking order, then turns in a fixed order."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.core.kernel.agenda import COMPACT, Agenda

DELAYS = st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=25)


def remaining_items(agenda: Any) -> list[Any]:
    """(time, item) of all remaining items."""
    found = []
    while (item := agenda.pop()) is not None:
        found.append((agenda.now, item))
    return found


def test_an_empty_agenda_gives_nothing_and_time_does_not_advance() -> None:
    """It returns None, repeatedly."""
    agenda: Any = Agenda()
    assert agenda.pop() is None
    assert agenda.pop() is None
    assert agenda.now == 0


def test_items_are_ordered_by_time_and_by_booking_order_for_equal_times() -> None:
    """A heap alone would return equal times in any order."""
    agenda: Any = Agenda()
    for at, item in [(5, "a"), (3, "b"), (5, "c"), (0, "d"), (3, "e"), (0, "f")]:
        agenda.call_at(at, item)
    assert remaining_items(agenda) == [(0, "d"), (0, "f"), (3, "b"), (3, "e"), (5, "a"), (5, "c")]


class Turn:
    """A turn of the agenda."""

    booked: Any

    def __init__(self, order: int) -> None:
        self.order = order


def test_turns_of_one_time_are_ordered_by_the_time_of_their_booking_and_by_their_order() -> None:
    """Actions precede them; an item that is booked for the present time follows all others."""
    agenda: Any = Agenda()
    turns = [Turn(order) for order in (3, 1, 2, 0)]
    agenda.run_at(5, turns[0])
    agenda.run_at(5, turns[1])
    agenda.call_at(2, "action")
    assert agenda.pop() == "action"
    agenda.run_at(5, turns[2])
    agenda.run_at(5, turns[3])
    agenda.call_at(5, "first")
    assert agenda.pop() == "first"
    agenda.call_at(5, "last")
    assert [item for _, item in remaining_items(agenda)] == [turns[1], turns[0], turns[3], turns[2], "last"]


def test_work_is_finished_before_time_advances() -> None:
    """It may book more items for the present time; turns after a poll follow."""
    agenda: Any = Agenda()
    work, log = list[Any](), list[Any]()

    def finish() -> None:
        log.append((agenda.now, *work))
        if "more" in work:
            agenda.call_at(agenda.now, "booked")
        work.clear()

    agenda.finish_with(work, finish)
    agenda.call_at(0, "now")
    agenda.call_at(1, "later")
    work.append("more")
    agenda.late.append("late")
    assert not agenda.jump(0.5)
    assert remaining_items(agenda) == [(0, "now"), (0, "booked"), (0, "late"), (1, "later")]
    assert log == [(0, "more")]


@given(DELAYS)
def test_an_agenda_is_a_stable_sort_by_time(delays: list[list[int]]) -> None:
    """Compared with a list that is sorted each time, with bookings between removals."""
    agenda: Any = Agenda()
    waiting: list[tuple[int, int]] = []
    number, now = 0, 0
    for step in [*delays, *([[]] * sum(map(len, delays)))]:
        for delay in step:
            agenda.call_at(now + delay, number)
            waiting.append((now + delay, number))
            number += 1
        waiting.sort()
        if waiting:
            now, expected = waiting.pop(0)
            assert (agenda.pop(), agenda.now) == (expected, now)
    assert agenda.pop() is None


@pytest.mark.parametrize("at", [3, 0.25, Fraction(1, 3)])
def test_times_are_returned_unchanged(at: Any) -> None:
    """No number is converted, so exact numbers stay exact."""
    agenda: Any = Agenda()
    agenda.call_at(at, "x")
    agenda.pop()
    assert agenda.now == at
    assert type(agenda.now) is type(at)


def test_equal_times_of_different_types_are_one_time() -> None:
    """1, 1.0 and Fraction(1) keep their booking order."""
    agenda: Any = Agenda()
    times: list[Any] = [Fraction(1), 1, 1.0]
    for item, at in enumerate(times):
        agenda.call_at(at, item)
    assert [item for _, item in remaining_items(agenda)] == [0, 1, 2]


def test_a_jump_succeeds_if_nothing_is_booked_before() -> None:
    """To a later time, from which the run continues."""
    agenda: Any = Agenda()
    agenda.call_at(10, "later")
    assert agenda.jump(9)
    assert agenda.now == 9
    agenda.call_at(9, "now")
    assert remaining_items(agenda) == [(9, "now"), (10, "later")]


@pytest.mark.parametrize("at", [10, 11])
def test_a_jump_does_not_pass_booked_items(at: int) -> None:
    """Not even items that are booked for the same time, which precede it."""
    agenda: Any = Agenda()
    agenda.call_at(10, "first")
    assert not agenda.jump(at)
    assert agenda.now == 0
    assert remaining_items(agenda) == [(10, "first")]


def test_a_jump_does_not_pass_items_that_are_due_now() -> None:
    """Items of the current time come first."""
    agenda: Any = Agenda()
    agenda.call_at(0, "now")
    assert not agenda.jump(1)
    assert remaining_items(agenda) == [(0, "now")]
    assert agenda.jump(1)


def test_clearing_removes_everything_except_the_time() -> None:
    """Later bookings work as usual."""
    agenda: Any = Agenda()
    for at in (0, 2, 2, 7):
        agenda.call_at(at, f"at {at}")
    agenda.pop()
    agenda.pop()
    agenda.clear()
    assert (agenda.pop(), agenda.now) == (None, 2)
    agenda.call_at(2, "a")
    agenda.call_at(5, "b")
    assert remaining_items(agenda) == [(2, "a"), (5, "b")]


def test_a_program_without_time_steps_does_not_grow() -> None:
    """Removed items of the current time are cut off periodically."""
    agenda: Any = Agenda()
    for number in range(3 * COMPACT + 7):
        agenda.call_at(0, number)
        assert agenda.pop() == number
    assert len(agenda.due) <= COMPACT + 1


def test_cutting_off_the_past_loses_nothing() -> None:
    """With more items at one time than are cut off at once."""
    agenda: Any = Agenda()
    for number in range(2 * COMPACT + 7):
        agenda.call_at(0, number)
    agenda.call_at(1, "later")
    assert remaining_items(agenda) == [*((0, number) for number in range(2 * COMPACT + 7)), (1, "later")]


def test_past_times_are_removed() -> None:
    """A long run keeps no list for each past time."""
    agenda: Any = Agenda()
    for at in range(1000):
        agenda.call_at(at, at)
        agenda.pop()
    for at in range(1000, 2000):
        agenda.jump(at)
    assert len(agenda.items_at) == 1
    assert not agenda.times
