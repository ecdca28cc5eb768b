"""The loop: who runs next and when, on both carriers, with tasks that have never heard of MPI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.kernel.loop import REFUSALS, Ended, Loop
from fakempi.world import make_carrier


def new_loop(carrier: str) -> Loop:
    """A loop without tasks."""
    return Loop(make_carrier(carrier))


def finish(loop: Loop) -> None:
    """Run, and end what is left."""
    try:
        loop.carrier.drive(loop)
    finally:
        loop.unwind()
        loop.carrier.close()


def test_tasks_start_in_the_order_in_which_they_were_made(carrier: str) -> None:
    """And each runs to its end if it never waits."""
    loop = new_loop(carrier)
    log: list[Any] = []
    for name in "abc":
        loop.spawn(lambda name=name: log.extend([name, name.upper()]))  # type: ignore[misc]
    finish(loop)
    assert "".join(log) == "aAbBcC"
    assert not loop.tasks


@given(st.lists(st.lists(st.integers(0, 4), max_size=4), min_size=1, max_size=5))
def test_the_earliest_goes_on_and_ties_go_to_whoever_was_booked_first(carrier: str, naps: list[list[int]]) -> None:
    """Against a list of (time, booking number) that is sorted anew each time."""
    loop = new_loop(carrier)
    log: list[tuple[float, int]] = []

    def sleeper(number: int) -> None:
        log.append((loop.now, number))
        for nap in naps[number]:
            loop.sleep_until(loop.now + nap)
            log.append((loop.now, number))

    for number in range(len(naps)):
        loop.spawn(lambda number=number: sleeper(number))  # type: ignore[misc]
    finish(loop)

    expected, booked = [], len(naps)
    agenda = [(0, number, number, list(naps[number])) for number in range(len(naps))]
    while agenda:
        agenda.sort()
        now, _, number, left = agenda.pop(0)
        expected.append((now, number))
        if left:
            agenda.append((now + left[0], booked, number, left[1:]))
            booked += 1
    assert log == expected


def test_a_waiting_task_goes_on_when_it_is_woken(carrier: str) -> None:
    """At the time that was said, not before."""
    loop = new_loop(carrier)
    log: list[Any] = []

    def waits() -> None:
        loop.wait()
        log.append(("woken", loop.now))

    def wakes() -> None:
        loop.book(7, waiter)
        loop.sleep_until(3)
        log.append(("slept", loop.now))

    waiter = loop.spawn(waits)
    loop.spawn(wakes)
    finish(loop)
    assert log == [("slept", 3), ("woken", 7)]


def test_a_task_that_waits_for_several_things_is_booked_once_for_the_latest(carrier: str) -> None:
    """Ends may become known in any order."""
    loop = new_loop(carrier)
    log: list[Any] = []

    def waits() -> None:
        waiter.awaited = 3
        loop.wait()
        log.append(loop.now)

    waiter = loop.spawn(waits)

    def tells() -> None:
        for end in (4, 9, 6):
            waiter.settled(end)

    loop.spawn(tells)
    finish(loop)
    assert log == [9]


def test_actions_are_called_at_their_time_between_the_tasks(carrier: str) -> None:
    """In booking order with them."""
    loop = new_loop(carrier)
    log: list[Any] = []

    def sleeps(name: str) -> None:
        loop.sleep_until(5)
        log.append(name)

    loop.spawn(lambda: sleeps("first"))
    loop.spawn(lambda: loop.book(5, lambda: log.append(f"action at {loop.now}")))
    loop.spawn(lambda: sleeps("second"))
    loop.book(9, lambda: log.append(f"late action at {loop.now}"))
    finish(loop)
    assert log == ["first", "action at 5", "second", "late action at 9"]


def test_a_task_made_by_a_task_starts_at_that_time_after_what_is_booked(carrier: str) -> None:
    """Its maker goes on first, then those that were due."""
    loop = new_loop(carrier)
    log: list[Any] = []

    def child() -> None:
        log.append(f"child at {loop.now}")

    def parent() -> None:
        loop.sleep_until(2)
        loop.spawn(child)
        log.append("parent")

    def other() -> None:
        loop.sleep_until(2)
        log.append("other")

    loop.spawn(parent)
    loop.spawn(other)
    finish(loop)
    assert log == ["parent", "other", "child at 2"]


def test_a_tasks_clock_is_the_time_at_which_it_ended(carrier: str) -> None:
    """Each its own."""
    loop = new_loop(carrier)
    tasks = [loop.spawn(lambda at=at: loop.sleep_until(at)) for at in (3, 1, 2)]  # type: ignore[misc]
    finish(loop)
    assert [task.clock for task in tasks] == [3, 1, 2]


def test_run_returns_when_the_rest_waits_for_what_never_comes(carrier: str) -> None:
    """Those are left in `tasks`, with their reason, and the place where they stand can be asked for."""
    loop = new_loop(carrier)

    def waits() -> None:
        assert loop.running is not None
        loop.running.reason = "for nothing"
        loop.wait()

    loop.spawn(waits)
    loop.spawn(lambda: None)
    loop.carrier.drive(loop)
    (task,) = loop.tasks.values()
    frame: Any = loop.carrier.frames([task])[task]
    names = []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    loop.unwind()
    loop.carrier.close()
    assert task.reason == "for nothing"
    assert "waits" in names


def test_unwinding_ends_all_tasks_in_order_and_runs_their_finally_blocks(carrier: str) -> None:
    """Those that have not started never start."""
    loop = new_loop(carrier)
    log: list[Any] = []

    def waits(name: str) -> None:
        try:
            loop.wait()
        except Ended:
            log.append(f"{name} ends")
            raise
        finally:
            log.append(f"{name} cleans up")

    for name in "ab":
        loop.spawn(lambda name=name: waits(name))  # type: ignore[misc]
    loop.carrier.drive(loop)
    loop.spawn(lambda: log.append("never"))
    loop.unwind()
    loop.carrier.close()
    assert log == ["a ends", "a cleans up", "b ends", "b cleans up"]
    assert not loop.tasks


def test_after_stop_nothing_that_was_booked_happens(carrier: str) -> None:
    """The task that stopped the loop runs to its end, and the others are ended."""
    loop = new_loop(carrier)
    log: list[Any] = []

    def sleeps() -> None:
        loop.sleep_until(1)
        log.append("overslept")

    def stops() -> None:
        loop.book(0, lambda: log.append("action"))
        loop.stop()
        log.append("stopped")

    loop.spawn(sleeps)
    loop.spawn(stops)
    loop.spawn(lambda: log.append("started"))
    finish(loop)
    assert log == ["stopped"]
    assert not loop.tasks


def test_a_task_that_waits_while_all_ends_is_told_again(carrier: str) -> None:
    """A finally block that waits does not hang."""
    loop = new_loop(carrier)
    log: list[Any] = []

    def waits_twice() -> None:
        try:
            loop.wait()
        finally:
            try:
                loop.wait()
            finally:
                log.append("out")

    loop.spawn(waits_twice)
    finish(loop)
    assert log == ["out"]


def test_a_task_that_will_not_end_is_left_where_it_stands(carrier: str) -> None:
    """After some patience; the others end as usual."""
    loop = new_loop(carrier)
    log: list[Any] = []
    refusals = 0

    def stubborn() -> None:
        nonlocal refusals
        while refusals < 10 * REFUSALS:
            try:
                loop.wait()
            except Ended:
                refusals += 1

    def meek() -> None:
        try:
            loop.wait()
        finally:
            log.append("meek ends")

    loop.spawn(stubborn)
    loop.spawn(meek)
    finish(loop)
    assert log == ["meek ends"]
    assert REFUSALS <= refusals <= REFUSALS + 1


@pytest.mark.parametrize("spoil", [lambda: 1 // 0, lambda: [][1]])
def test_what_a_task_raises_comes_out_of_run_and_the_others_can_be_ended(
    carrier: str, spoil: Callable[[], Any]
) -> None:
    """Nothing of ours raises in a task, so this is for bugs: even they leave nothing behind."""
    loop = new_loop(carrier)
    log: list[Any] = []

    def waits() -> None:
        try:
            loop.wait()
        finally:
            log.append("cleans up")

    loop.spawn(waits)
    loop.spawn(spoil)
    with pytest.raises((ZeroDivisionError, IndexError)):
        loop.carrier.drive(loop)
    loop.unwind()
    loop.carrier.close()
    assert log == ["cleans up"]
