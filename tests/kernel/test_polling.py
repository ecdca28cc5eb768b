"""Polling: a task that polls unsuccessfully lets others run and continues later; if all tasks poll, they starve."""

from __future__ import annotations

from typing import Any

import pytest

from fakempi.core.kernel.loop import MAX_IDLE_ROUNDS
from tests.kernel.loops import finish, new_loop


def test_the_first_poll_at_a_time_returns_at_that_time(backend: Any) -> None:
    """After all other tasks have run; the second poll returns when time has advanced."""
    loop = new_loop(backend)
    log: list[Any] = []

    def polls() -> None:
        for _ in range(3):
            loop.poll()
            log.append(("polled", loop.now))

    def sleeps() -> None:
        for at in (4, 9):
            log.append(("runs", loop.now))
            loop.sleep_until(at)

    loop.spawn(polls)
    loop.spawn(sleeps)
    finish(loop)
    assert log == [("runs", 0), ("polled", 0), ("runs", 4), ("polled", 4), ("polled", 4)]


def test_a_poller_sees_events_of_the_time_at_which_it_returns(backend: Any) -> None:
    """It runs after everything booked for that time."""
    loop = new_loop(backend)
    happened = False

    def action() -> None:
        nonlocal happened
        happened = True

    def polls() -> None:
        loop.poll()
        loop.poll()
        assert (loop.now, happened) == (6, True)

    loop.spawn(polls)
    loop.call_at(6, action)
    finish(loop)
    assert not loop.starved


def test_tasks_that_only_poll_are_starved(backend: Any) -> None:
    """After `MAX_IDLE_ROUNDS` rounds without any other event; blocked tasks do not count."""
    loop = new_loop(backend)
    polls = 0

    def poller() -> None:
        nonlocal polls
        while True:
            loop.poll()
            polls += 1

    for _ in range(3):
        loop.spawn(poller)
    loop.spawn(loop.wait)
    loop.backend.drive(loop)
    starved, left = loop.starved, len(loop.pollers)
    finish(loop)
    assert starved
    assert left == 3
    assert 3 * MAX_IDLE_ROUNDS <= polls <= 3 * (MAX_IDLE_ROUNDS + 4)


def test_a_task_that_polls_until_another_stops_polling_is_not_starved(backend: Any) -> None:
    """Tasks that stop polling count as progress."""
    loop = new_loop(backend)
    ended: list[int] = []

    def poller(number: int) -> None:
        while len(ended) < number:
            loop.poll()
        for _ in range(MAX_IDLE_ROUNDS // 8):
            loop.poll()
        ended.append(number)

    for number in (3, 1, 2, 0):
        loop.spawn(lambda number=number: poller(number))  # type: ignore[misc]
    finish(loop)
    assert ended == [0, 1, 2, 3]
    assert not loop.starved


def test_more_pollers_than_are_cut_off_at_once_starve_too(backend: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agenda cuts off its past while they poll; this must not count as an event."""
    monkeypatch.setattr("fakempi.core.kernel.agenda.COMPACT", 4)
    monkeypatch.setattr("fakempi.core.kernel.loop.COMPACT", 4)
    loop = new_loop(backend)

    def poller() -> None:
        for _ in range(4 * MAX_IDLE_ROUNDS):
            loop.poll()

    for _ in range(7):
        loop.spawn(poller)
    loop.backend.drive(loop)
    starved = loop.starved
    finish(loop)
    assert starved


def test_sleeping_does_not_pass_pollers(backend: Any) -> None:
    """A sleeper that could jump ahead gives pollers the time at which it continues."""
    loop = new_loop(backend)
    log: list[Any] = []

    def polls() -> None:
        while loop.now < 20:
            loop.poll()
            log.append(loop.now)

    def sleeps() -> None:
        for at in (10, 20):
            loop.sleep_until(at)

    loop.spawn(polls)
    loop.spawn(sleeps)
    finish(loop)
    assert log == [0, 10, 10, 20]


def test_a_sleeper_does_not_jump_ahead_of_pollers(backend: Any) -> None:
    """Only pollers wait, and time advances in steps of the sleeper."""
    loop = new_loop(backend)
    log: list[Any] = []

    def polls() -> None:
        while loop.now < 30:
            loop.poll()
            log.append(loop.now)

    def sleeps() -> None:
        loop.poll()
        for at in (10, 20, 30):
            loop.sleep_until(at)

    loop.spawn(polls)
    loop.spawn(sleeps)
    finish(loop)
    assert sorted(set(log)) == [0, 10, 20, 30]
