"""The two carriers: how the baton is handed on, and what is left when all is over."""

from __future__ import annotations

import gc
import threading
import weakref
from contextvars import ContextVar
from functools import partial
from time import sleep
from typing import Any

import pytest

from fakempi.kernel.loop import Loop
from fakempi.world import make_carrier


def relay(loop: Loop, tasks: int, rounds: int) -> None:
    """Spawn tasks that sleep in turn, so that each switch goes from one to the next."""

    def runner(number: int) -> None:
        for lap in range(1, rounds + 1):
            loop.sleep_until(lap * tasks + number)

    for number in range(tasks):
        loop.spawn(lambda number=number: runner(number))  # type: ignore[misc]


def finish(loop: Loop) -> None:
    """Run, and end what is left."""
    loop.carrier.drive(loop)
    loop.unwind()
    loop.carrier.close()


def test_a_waiting_greenlet_switches_straight_to_the_next() -> None:
    """One switch, not two: the hub is needed to start and to end tasks, not in between."""
    greenlet = pytest.importorskip("greenlet")
    loop = Loop(make_carrier("greenlets"))
    relay(loop, tasks=3, rounds=50)
    hub, switches = greenlet.getcurrent(), []

    def watch(event: str, args: tuple[Any, Any]) -> None:
        switches.append(args[1] is hub)

    before = greenlet.settrace(watch)
    try:
        finish(loop)
    finally:
        greenlet.settrace(before)
    assert len(switches) <= 3 * 50 + 4 * 3
    assert sum(switches) <= 3 * 3


def test_tasks_that_never_wait_need_one_greenlet() -> None:
    """Who ends leaves it to the next one that has not started; who waits keeps its own."""
    greenlet = pytest.importorskip("greenlet")
    loop, seen = Loop(make_carrier("greenlets")), []

    def task(waits: bool) -> None:
        seen.append(greenlet.getcurrent())
        if waits:
            loop.sleep_until(1)
            seen.append(greenlet.getcurrent())

    for waits in (False, False, True, False, True, False):
        loop.spawn(partial(task, waits))
    finish(loop)
    one, two, three = seen[0], seen[3], seen[5]
    assert len({one, two, three}) == 3
    assert seen == [one, one, one, two, two, three, one, two]


@pytest.mark.parametrize("carrier", ["greenlets", "threads"])
def test_what_a_task_sets_in_its_context_is_not_there_for_the_next(carrier: str) -> None:
    """Though that may go on where it has ended."""
    if carrier == "greenlets":
        pytest.importorskip("greenlet")
    loop, variable, seen = Loop(make_carrier(carrier)), ContextVar("variable", default=0), []

    def task() -> None:
        seen.append(variable.get())
        variable.set(1)

    for _ in range(3):
        loop.spawn(task)
    finish(loop)
    assert seen == [0, 0, 0]
    assert variable.get() == 0


def test_a_waiting_thread_hands_the_baton_straight_to_the_next() -> None:
    """The caller's thread asks who is next once, to begin with; after that, threads find the next one themselves."""
    loop = Loop(make_carrier("threads"))
    relay(loop, tasks=3, rounds=50)
    find, asked = loop.next, []

    def watched() -> Any:
        asked.append(threading.current_thread())
        return find()

    loop.next = watched  # type: ignore[method-assign]
    finish(loop)
    assert asked.count(threading.current_thread()) == 1
    assert len(set(asked)) == 4


def test_an_interrupt_that_comes_together_with_the_baton_does_not_hang() -> None:
    """All tasks wait, the hub has just got the baton back, and the user's Ctrl-C is seen at that very moment."""
    loop = Loop(make_carrier("threads"))
    log: list[str] = []

    def waits() -> None:
        try:
            loop.wait()
        finally:
            log.append("cleans up")

    def interrupted(sleep: Any, loop: Any) -> None:
        carrier._sleep = sleep
        sleep(loop)
        raise KeyboardInterrupt

    def drive() -> None:
        with pytest.raises(KeyboardInterrupt):
            loop.carrier.drive(loop)
        loop.unwind()
        loop.carrier.close()
        log.append("over")

    carrier: Any = loop.carrier
    carrier._sleep = partial(interrupted, carrier._sleep)
    for _ in range(2):
        loop.spawn(waits)
    thread = threading.Thread(target=drive, daemon=True)
    thread.start()
    thread.join(60)
    assert log == ["cleans up", "cleans up", "over"]


def test_a_hub_that_is_woken_twice_lets_tasks_end_one_after_the_other() -> None:
    """Somebody hands it a baton, at the end, that a task has: it looks, and sleeps on."""
    loop = Loop(make_carrier("threads"))
    carrier: Any = loop.carrier
    log: list[str] = []

    def waits(name: str) -> None:
        try:
            loop.wait()
        finally:
            carrier.to_hub()
            while carrier.hub.is_set():
                sleep(0)  # until it has looked
            log.append(name)
            log.append(name)

    for name in "abc":
        loop.spawn(partial(waits, name))
    finish(loop)
    assert "".join(log) == "aabbcc"


def test_a_hub_that_nobody_wakes_at_the_end_sees_that_it_has_the_baton() -> None:
    """A thread that is told to end in its very last step dies before it has woken anybody."""
    loop = Loop(make_carrier("threads"))
    carrier: Any = loop.carrier
    log: list[str] = []

    class Deaf:
        def set(self) -> None: ...

        def clear(self) -> None: ...

        def wait(self, seconds: float) -> bool:
            sleep(0)
            return False

    def waits(name: str) -> None:
        try:
            loop.wait()
        finally:
            log.append(name)

    for name in "abc":
        loop.spawn(partial(waits, name))
    carrier.drive(loop)
    carrier.hub = Deaf()
    loop.unwind()
    carrier.close()
    assert log == ["a", "b", "c"]


def test_a_task_that_another_has_taken_out_hands_no_baton_on(carrier: str) -> None:
    """It was given up while it ran, and comes to its end all the same."""
    loop = Loop(make_carrier(carrier))
    log = []

    def is_given_up() -> None:
        log.append(loop.tasks.pop(1).number)

    task = loop.spawn(is_given_up)
    assert loop.begin(task)
    assert not loop.begin(loop.spawn(lambda: None))
    assert (log, loop.tasks) == ([1], {})


def test_each_task_has_a_thread_of_its_own() -> None:
    """And the caller's is none of them."""
    loop = Loop(make_carrier("threads"))
    threads = []

    def says() -> None:
        threads.append(threading.current_thread())
        loop.sleep_until(1)
        threads.append(threading.current_thread())

    for _ in range(3):
        loop.spawn(says)
    finish(loop)
    assert threads[:3] == threads[3:]
    assert len({*threads, threading.current_thread()}) == 4


def test_greenlets_stay_in_the_callers_thread() -> None:
    """No thread is made."""
    pytest.importorskip("greenlet")
    loop = Loop(make_carrier("greenlets"))
    threads = []
    for _ in range(3):
        loop.spawn(lambda: threads.append(threading.current_thread()))
    finish(loop)
    assert set(threads) == {threading.current_thread()}


def test_no_thread_is_left_when_all_tasks_have_ended(carrier: str) -> None:
    """By themselves, or because they were told to."""
    before = threading.enumerate()
    loop = Loop(make_carrier(carrier))
    relay(loop, tasks=4, rounds=2)
    for _ in range(4):
        loop.spawn(loop.wait)
    finish(loop)
    assert threading.enumerate() == before


def test_threads_that_take_their_time_to_end_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread lives on for a moment after its task has ended; here, until somebody joins it."""
    made: list[threading.Thread] = []

    class Slow(threading.Thread):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.joined = threading.Event()
            made.append(self)

        def run(self) -> None:
            super().run()
            self.joined.wait(30)

        def join(self, timeout: float | None = None) -> None:
            self.joined.set()
            super().join(timeout)

    monkeypatch.setattr("fakempi.kernel.threads.threading.Thread", Slow)
    loop = Loop(make_carrier("threads"))
    relay(loop, tasks=2, rounds=1)
    loop.spawn(loop.wait)
    finish(loop)
    alive = [thread.is_alive() for thread in made]
    for thread in made:
        thread.join()
    assert alive == [False] * 3


def test_the_stack_size_of_other_threads_is_left_alone(carrier: str) -> None:
    """Small stacks are for tasks only."""
    before = threading.stack_size()
    loop = Loop(make_carrier(carrier))
    relay(loop, tasks=3, rounds=1)
    finish(loop)
    assert threading.stack_size() == before


def test_more_tasks_than_the_recursion_limit_can_start_one_another(carrier: str) -> None:
    """Each is the child of the one before, and none of them is nested in it."""
    loop = Loop(make_carrier(carrier))
    count = 1200 if carrier == "greenlets" else 150
    started = []

    def starts_next(number: int) -> None:
        started.append(number)
        if number + 1 < count:
            loop.spawn(lambda: starts_next(number + 1))
        loop.sleep_until(1)

    loop.spawn(lambda: starts_next(0))
    finish(loop)
    assert started == list(range(count))


def test_some_hundred_nested_calls_fit_on_a_tasks_stack(carrier: str) -> None:
    """With a wait at the bottom."""
    loop = Loop(make_carrier(carrier))
    bottom = []

    def dig(depth: int) -> None:
        if depth:
            dig(depth - 1)
        else:
            loop.sleep_until(loop.now + 1)
            bottom.append(loop.now)

    for _ in range(2):
        loop.spawn(lambda: dig(400))
    finish(loop)
    assert bottom == [1, 1]


def test_what_a_task_held_is_gone_with_it(carrier: str) -> None:
    """No stack is kept by the carrier once the loop is gone."""

    class Held:
        pass

    loop = Loop(make_carrier(carrier))
    left: list[weakref.ref[Held]] = []

    def holds(waits: bool) -> None:
        held = Held()
        left.append(weakref.ref(held))
        if waits:
            loop.wait()

    for waits in (True, False, True):
        loop.spawn(lambda waits=waits: holds(waits))  # type: ignore[misc]
    finish(loop)
    gc.collect()
    assert [held() for held in left] == [None] * 3


def test_tasks_inside_a_task(carrier: str) -> None:
    """A loop in a task of a loop: the outer one stands still meanwhile."""
    outer = Loop(make_carrier(carrier))
    log: list[tuple[str, float, float]] = []

    def sleeps(name: str, loop: Loop, at: float) -> None:
        loop.sleep_until(at)
        log.append((name, loop.now, outer.now))

    def inside() -> None:
        outer.sleep_until(5)
        inner = Loop(make_carrier(carrier))
        for at in (3, 1):
            inner.spawn(partial(sleeps, "inner", inner, at))
        finish(inner)

    outer.spawn(inside)
    outer.spawn(partial(sleeps, "outer", outer, 6))
    finish(outer)
    assert log == [("inner", 1, 5), ("inner", 3, 5), ("outer", 6, 6)]
