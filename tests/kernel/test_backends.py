"""The two backends: how control is passed on, and what is left at the end."""

from __future__ import annotations

import gc
import threading
import weakref
from contextvars import ContextVar
from functools import partial
from time import sleep
from typing import Any

import pytest

from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.threads import TaskThread
from tests.helpers.packages import needs
from tests.kernel.loops import finish, new_loop


def relay(loop: Loop, tasks: int, rounds: int) -> None:
    """Spawn tasks that sleep in turn, so that each switch goes from one task to the next."""

    def runner(number: int) -> None:
        for lap in range(1, rounds + 1):
            loop.sleep_until(lap * tasks + number)

    for number in range(tasks):
        loop.spawn(lambda number=number: runner(number))  # type: ignore[misc]


def test_a_waiting_greenlet_switches_directly_to_the_next() -> None:
    """One switch, not two: the hub only starts and ends tasks and greenlets."""
    greenlet = needs("greenlet")
    loop = new_loop("greenlets")
    relay(loop, tasks=3, rounds=50)
    hub, switches = greenlet.getcurrent(), []

    def watch(event: str, args: tuple[Any, Any]) -> None:
        switches.append(args[1] is hub)

    before = greenlet.settrace(watch)
    try:
        finish(loop)
    finally:
        greenlet.settrace(before)
    assert len(switches) <= 3 * 50 + 6 * 3
    assert sum(switches) <= 3 * 3


class LateEvent(threading.Event):
    """An event that is set when a wait is over, and before the waiting thread continues: the first wait returns False."""

    waits = 0

    def wait(self, timeout: float | None = None) -> bool:
        """Return what `threading.Event` returns then."""
        if not super().wait(60):
            raise TimeoutError("the hub has not noticed that all tasks have ended")
        self.waits += 1
        return self.waits > 1


def test_the_hub_notices_tasks_that_end_while_its_wait_times_out() -> None:
    """It waits a second at a time, and a thread that keeps the interpreter to itself may end its task between two waits."""
    loop, done = new_loop("threads"), list[int]()
    loop.backend.hub = LateEvent()  # type: ignore[attr-defined]  # of this backend
    loop.spawn(lambda: done.append(1))
    finish(loop)
    assert done == [1]


def test_a_task_that_ends_leaves_its_greenlet_to_the_next() -> None:
    """Tasks that never wait need one greenlet, waiting tasks keep theirs, and all greenlets have ended at the end."""
    greenlet = needs("greenlet")
    loop, seen = new_loop("greenlets"), []

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
    assert all(each.dead for each in seen)


@pytest.mark.parametrize("backend", ["greenlets", "threads"])
def test_context_variables_of_a_task_are_not_visible_to_the_next(backend: Any) -> None:
    """Although that task may continue on the same greenlet."""
    if backend == "greenlets":
        needs("greenlet")
    loop, variable, seen = new_loop(backend), ContextVar("variable", default=0), []

    def task() -> None:
        seen.append(variable.get())
        variable.set(1)

    for _ in range(3):
        loop.spawn(task)
    finish(loop)
    assert seen == [0, 0, 0]
    assert variable.get() == 0


def test_a_waiting_thread_passes_control_directly_to_the_next() -> None:
    """The caller's thread selects the first task; after that, threads select the next one."""
    loop = new_loop("threads")
    relay(loop, tasks=3, rounds=50)
    find, requested = loop.next, []

    def watched() -> Any:
        requested.append(threading.current_thread())
        return find()

    loop.next = watched  # type: ignore[method-assign]
    finish(loop)
    assert requested.count(threading.current_thread()) == 1
    assert len(set(requested)) == 4


def test_an_interrupt_during_a_switch_to_the_hub_does_not_hang() -> None:
    """All tasks wait, the hub has just received control, and Ctrl-C arrives at that moment."""
    loop = new_loop("threads")
    log: list[str] = []

    def waits() -> None:
        try:
            loop.wait()
        finally:
            log.append("cleans up")

    def interrupted(sleep: Any, loop: Any) -> None:
        backend._sleep = sleep
        sleep(loop)
        raise KeyboardInterrupt

    def drive() -> None:
        with pytest.raises(KeyboardInterrupt):
            loop.backend.drive(loop)
        loop.unwind()
        loop.backend.close()
        log.append("over")

    backend: Any = loop.backend
    backend._sleep = partial(interrupted, backend._sleep)
    for _ in range(2):
        loop.spawn(waits)
    thread = threading.Thread(target=drive, daemon=True)
    thread.start()
    thread.join(60)
    assert log == ["cleans up", "cleans up", "over"]


def test_a_hub_that_is_woken_twice_lets_tasks_end_one_after_the_other() -> None:
    """At the end, the hub is woken while a task still runs: it checks, and waits again."""
    loop = new_loop("threads")
    backend: Any = loop.backend
    log: list[str] = []

    def waits(name: str) -> None:
        try:
            loop.wait()
        finally:
            backend.to_hub()
            while backend.hub.is_set():
                sleep(0)  # until it has checked
            log.append(name)
            log.append(name)

    for name in "abc":
        loop.spawn(partial(waits, name))
    finish(loop)
    assert "".join(log) == "aabbcc"


def test_a_hub_that_is_not_woken_at_the_end_notices_that_it_has_control() -> None:
    """A thread that is stopped in its last step ends before it has woken any other."""
    loop = new_loop("threads")
    backend: Any = loop.backend
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
    backend.drive(loop)
    backend.hub = Deaf()
    loop.unwind()
    backend.close()
    assert log == ["a", "b", "c"]


def test_a_task_that_another_has_removed_does_not_pass_control_on(backend: Any) -> None:
    """It was given up while it ran, and still ends."""
    loop = new_loop(backend)
    log = []

    def is_given_up() -> None:
        log.append(loop.tasks.pop(1).number)

    task = loop.spawn(is_given_up)
    assert loop.begin(task)
    assert not loop.begin(loop.spawn(lambda: None))
    assert (log, loop.tasks) == ([1], {})


def test_each_task_has_a_separate_thread() -> None:
    """None of them is the caller's thread."""
    loop = new_loop("threads")
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
    """No thread is created."""
    needs("greenlet")
    loop = new_loop("greenlets")
    threads = []
    for _ in range(3):
        loop.spawn(lambda: threads.append(threading.current_thread()))
    finish(loop)
    assert set(threads) == {threading.current_thread()}


def test_no_thread_is_left_after_all_tasks(backend: Any) -> None:
    """Whether they ended normally or were stopped."""
    before = threading.enumerate()
    loop = new_loop(backend)
    relay(loop, tasks=4, rounds=2)
    for _ in range(4):
        loop.spawn(loop.wait)
    finish(loop)
    assert set(threading.enumerate()) <= set(before)  # a thread of an earlier test may end meanwhile


def test_threads_that_end_slowly_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread lives for a moment after its task has ended; here, until it is joined."""
    made: list[threading.Thread] = []

    class Slow(TaskThread):
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

    monkeypatch.setattr("fakempi.core.kernel.threads.TaskThread", Slow)
    loop = new_loop("threads")
    relay(loop, tasks=2, rounds=1)
    loop.spawn(loop.wait)
    finish(loop)
    alive = [thread.is_alive() for thread in made]
    for thread in made:
        thread.join()
    assert alive == [False] * 3


def test_the_stack_size_of_other_threads_is_unchanged(backend: Any) -> None:
    """Small stacks are for tasks only."""
    before = threading.stack_size()
    loop = new_loop(backend)
    relay(loop, tasks=3, rounds=1)
    finish(loop)
    assert threading.stack_size() == before


def test_more_tasks_than_the_recursion_limit_can_start_one_another(backend: Any) -> None:
    """Each is the child of the previous one, and none of them is nested in it."""
    loop = new_loop(backend)
    count = 1200 if backend == "greenlets" else 150
    started = []

    def starts_next(number: int) -> None:
        started.append(number)
        if number + 1 < count:
            loop.spawn(lambda: starts_next(number + 1))
        loop.sleep_until(1)

    loop.spawn(lambda: starts_next(0))
    finish(loop)
    assert started == list(range(count))


def test_hundreds_of_nested_calls_fit_on_the_stack_of_a_task(backend: Any) -> None:
    """With a wait in the innermost call."""
    loop = new_loop(backend)
    bottom = []

    def nested_calls(depth: int) -> None:
        if depth:
            nested_calls(depth - 1)
        else:
            loop.sleep_until(loop.now + 1)
            bottom.append(loop.now)

    for _ in range(2):
        loop.spawn(lambda: nested_calls(400))
    finish(loop)
    assert bottom == [1, 1]


def test_objects_of_a_task_are_freed_with_it(backend: Any) -> None:
    """The backend keeps no stack after the loop is freed."""

    class HeldObject:
        pass

    loop = new_loop(backend)
    left: list[weakref.ref[HeldObject]] = []

    def holds(waits: bool) -> None:
        held = HeldObject()
        left.append(weakref.ref(held))
        if waits:
            loop.wait()

    for waits in (True, False, True):
        loop.spawn(lambda waits=waits: holds(waits))  # type: ignore[misc]
    finish(loop)
    gc.collect()
    assert [held() for held in left] == [None] * 3


def test_a_loop_can_run_inside_a_task(backend: Any) -> None:
    """The outer loop does not advance meanwhile."""
    outer = new_loop(backend)
    log: list[tuple[str, float, float]] = []

    def sleeps(name: str, loop: Loop, at: float) -> None:
        loop.sleep_until(at)
        log.append((name, loop.now, outer.now))

    def inside() -> None:
        outer.sleep_until(5)
        inner = new_loop(backend)
        for at in (3, 1):
            inner.spawn(partial(sleeps, "inner", inner, at))
        finish(inner)

    outer.spawn(inside)
    outer.spawn(partial(sleeps, "outer", outer, 6))
    finish(outer)
    assert log == [("inner", 1, 5), ("inner", 3, 5), ("outer", 6, 6)]
