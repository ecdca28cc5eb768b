"""The loop: which task runs next and when, on both backends, with tasks that do not use MPI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakempi.core.kernel.loop import ENDED_LIMIT, Ended
from tests.kernel.loops import finish, new_loop


def test_tasks_start_in_the_order_of_creation(backend: Any) -> None:
    """Each runs to its end if it never waits."""
    loop = new_loop(backend)
    log: list[Any] = []
    for name in "abc":
        loop.spawn(lambda name=name: log.extend([name, name.upper()]))  # type: ignore[misc]
    finish(loop)
    assert "".join(log) == "aAbBcC"
    assert not loop.tasks


@given(st.lists(st.lists(st.integers(0, 4), max_size=4), min_size=1, max_size=5))
def test_the_earliest_task_continues_and_ties_follow_booking_order(backend: Any, naps: list[list[int]]) -> None:
    """Compared with a list that is sorted each time: by time, by the time of booking, and by task.

    Tasks that are booked for the present time follow all others.
    """
    loop = new_loop(backend)
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
    agenda = [(0, 0, number, number, list(naps[number])) for number in range(len(naps))]
    while agenda:
        agenda.sort()
        now, _, _, number, left = agenda.pop(0)
        expected.append((now, number))
        if left:
            agenda.append((now + left[0], now, number if left[0] else booked, number, left[1:]))
            booked += 1
    assert log == expected


def test_a_waiting_task_continues_when_it_is_woken(backend: Any) -> None:
    """At the given time, not before."""
    loop = new_loop(backend)
    log: list[Any] = []

    def waits() -> None:
        loop.wait()
        log.append(("woken", loop.now))

    def wakes() -> None:
        loop.run_at(7, waiter)
        loop.sleep_until(3)
        log.append(("slept", loop.now))

    waiter = loop.spawn(waits)
    loop.spawn(wakes)
    finish(loop)
    assert log == [("slept", 3), ("woken", 7)]


def test_a_task_that_waits_for_several_ends_is_booked_once_for_the_latest(backend: Any) -> None:
    """The ends may become known in any order."""
    loop = new_loop(backend)
    log: list[Any] = []

    def waits() -> None:
        waiter.awaited = 3
        loop.wait()
        log.append(loop.now)

    waiter = loop.spawn(waits)

    def settle() -> None:
        for end in (4, 9, 6):
            waiter.settled(end)

    loop.spawn(settle)
    finish(loop)
    assert log == [9]


def test_a_task_that_lets_others_run_continues_when_none_of_them_can(backend: Any) -> None:
    """Also after tasks that start or are woken meanwhile, at the same time."""
    loop = new_loop(backend)
    log: list[Any] = []

    def lets_others_run() -> None:
        loop.let_others_run()
        log.append(("continued", loop.now))

    def wakes() -> None:
        loop.run_at(loop.now, waiter)
        loop.spawn(lambda: log.append("started"))
        loop.sleep_until(1)
        log.append("slept")

    def waits() -> None:
        loop.wait()
        log.append("woken")

    loop.spawn(lets_others_run)
    waiter = loop.spawn(waits)
    loop.spawn(wakes)
    finish(loop)
    assert log == ["woken", "started", ("continued", 0), "slept"]


def test_actions_are_called_at_their_time_before_tasks(backend: Any) -> None:
    """In booking order."""
    loop = new_loop(backend)
    log: list[Any] = []

    def sleeps(name: str) -> None:
        loop.sleep_until(5)
        log.append(name)

    loop.spawn(lambda: sleeps("first"))
    loop.spawn(lambda: loop.call_at(5, lambda: log.append(f"action at {loop.now}")))
    loop.spawn(lambda: sleeps("second"))
    loop.call_at(9, lambda: log.append(f"late action at {loop.now}"))
    finish(loop)
    assert log == ["action at 5", "first", "second", "late action at 9"]


def test_a_task_created_by_a_task_starts_at_that_time_after_booked_tasks(backend: Any) -> None:
    """Its creator continues first, then tasks that were due."""
    loop = new_loop(backend)
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


def test_the_clock_of_a_task_is_the_time_at_which_it_ended(backend: Any) -> None:
    """Each task has its own."""
    loop = new_loop(backend)
    tasks = [loop.spawn(lambda at=at: loop.sleep_until(at)) for at in (3, 1, 2)]  # type: ignore[misc]
    finish(loop)
    assert [task.clock for task in tasks] == [3, 1, 2]


def test_run_returns_when_the_remaining_tasks_are_blocked(backend: Any) -> None:
    """They are in `tasks`, with their reasons, and their places can be queried."""
    loop = new_loop(backend)

    def waits() -> None:
        assert loop.running is not None
        loop.running.reason = "for nothing"
        loop.wait()

    loop.spawn(waits)
    loop.spawn(lambda: None)
    loop.backend.drive(loop)
    (task,) = loop.tasks.values()
    frame: Any = loop.backend.frames([task])[task]
    names = []
    while frame is not None:
        names.append(frame.f_code.co_name)
        frame = frame.f_back
    loop.unwind()
    loop.backend.close()
    assert task.reason == "for nothing"
    assert "waits" in names


def test_unwinding_ends_all_tasks_in_order_and_runs_their_finally_blocks(backend: Any) -> None:
    """Tasks that have not started never start."""
    loop = new_loop(backend)
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
    loop.backend.drive(loop)
    loop.spawn(lambda: log.append("never"))
    loop.unwind()
    loop.backend.close()
    assert log == ["a ends", "a cleans up", "b ends", "b cleans up"]
    assert not loop.tasks


def test_after_stop_no_booked_item_is_processed(backend: Any) -> None:
    """The task that stopped the loop runs to its end, and the other tasks are unwound."""
    loop = new_loop(backend)
    log: list[Any] = []

    def sleeps() -> None:
        loop.sleep_until(1)
        log.append("overslept")

    def stops() -> None:
        loop.call_at(0, lambda: log.append("action"))
        loop.stop()
        log.append("stopped")

    loop.spawn(sleeps)
    loop.spawn(stops)
    loop.spawn(lambda: log.append("started"))
    finish(loop)
    assert log == ["stopped"]
    assert not loop.tasks


def test_a_task_that_waits_during_unwinding_is_unwound_again(backend: Any) -> None:
    """A finally block that waits does not hang."""
    loop = new_loop(backend)
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


def test_a_task_that_does_not_end_is_given_up(backend: Any) -> None:
    """After several attempts; the other tasks end as usual."""
    loop = new_loop(backend)
    log: list[Any] = []
    refusals = 0

    def never_ends() -> None:
        nonlocal refusals
        while refusals < 10 * ENDED_LIMIT:
            try:
                loop.wait()
            except Ended:
                refusals += 1

    def ends_at_once() -> None:
        try:
            loop.wait()
        finally:
            log.append("ends_at_once ends")

    loop.spawn(never_ends)
    loop.spawn(ends_at_once)
    finish(loop)
    assert log == ["ends_at_once ends"]
    assert ENDED_LIMIT <= refusals <= ENDED_LIMIT + 1


@pytest.mark.parametrize("spoil", [lambda: 1 // 0, lambda: [][1]])
def test_an_exception_of_a_task_is_raised_by_run_and_the_others_can_be_unwound(
    backend: Any, spoil: Callable[[], Any]
) -> None:
    """No code of fakempi raises in a task, so this is for bugs: even they leave nothing behind."""
    loop = new_loop(backend)
    log: list[Any] = []

    def waits() -> None:
        try:
            loop.wait()
        finally:
            log.append("cleans up")

    loop.spawn(waits)
    loop.spawn(spoil)
    with pytest.raises((ZeroDivisionError, IndexError)):
        loop.backend.drive(loop)
    loop.unwind()
    loop.backend.close()
    assert log == ["cleans up"]
