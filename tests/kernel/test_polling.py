"""Polling: a task that finds nothing lets others run, and comes back; if nobody can do better, they starve."""

from __future__ import annotations

from typing import Any

import pytest

from fakempi.kernel.loop import PATIENCE, Loop
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


def test_the_first_poll_of_a_moment_comes_back_at_that_moment(carrier: str) -> None:
    """After all others have run; the second when time has moved."""
    loop = new_loop(carrier)
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


def test_a_poller_sees_what_happens_at_the_moment_it_comes_back(carrier: str) -> None:
    """It comes behind what was booked for that moment."""
    loop = new_loop(carrier)
    happened = False

    def action() -> None:
        nonlocal happened
        happened = True

    def polls() -> None:
        loop.poll()
        loop.poll()
        assert (loop.now, happened) == (6, True)

    loop.spawn(polls)
    loop.book(6, action)
    finish(loop)
    assert not loop.starved


def test_tasks_that_only_poll_are_starved(carrier: str) -> None:
    """After `PATIENCE` rounds in which nothing else happened; those that wait count for nothing."""
    loop = new_loop(carrier)
    polls = 0

    def poller() -> None:
        nonlocal polls
        while True:
            loop.poll()
            polls += 1

    for _ in range(3):
        loop.spawn(poller)
    loop.spawn(loop.wait)
    loop.carrier.drive(loop)
    starved, left = loop.starved, len(loop.pollers)
    finish(loop)
    assert starved
    assert left == 3
    assert 3 * PATIENCE <= polls <= 3 * (PATIENCE + 4)


def test_whoever_polls_until_another_has_polled_enough_is_not_starved(carrier: str) -> None:
    """As long as anybody stops polling, things happen."""
    loop = new_loop(carrier)
    ended: list[int] = []

    def poller(number: int) -> None:
        while len(ended) < number:
            loop.poll()
        for _ in range(PATIENCE // 8):
            loop.poll()
        ended.append(number)

    for number in (3, 1, 2, 0):
        loop.spawn(lambda number=number: poller(number))  # type: ignore[misc]
    finish(loop)
    assert ended == [0, 1, 2, 3]
    assert not loop.starved


def test_more_pollers_than_are_cut_off_at_once_starve_too(carrier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agenda cuts off its past while they poll, which must not look as if something had happened."""
    monkeypatch.setattr("fakempi.kernel.agenda.COMPACT", 4)
    monkeypatch.setattr("fakempi.kernel.loop.COMPACT", 4)
    loop = new_loop(carrier)

    def poller() -> None:
        for _ in range(4 * PATIENCE):
            loop.poll()

    for _ in range(7):
        loop.spawn(poller)
    loop.carrier.drive(loop)
    starved = loop.starved
    finish(loop)
    assert starved


def test_sleeping_does_not_leave_pollers_behind(carrier: str) -> None:
    """A sleeper that could jump ahead gives pollers the moment at which it goes on."""
    loop = new_loop(carrier)
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


def test_a_sleeper_does_not_jump_ahead_of_those_who_poll(carrier: str) -> None:
    """Nothing is booked but what pollers wait for: that time moves. Each of its steps is one."""
    loop = new_loop(carrier)
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
