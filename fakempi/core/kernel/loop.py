"""The loop: one task runs at a time, and the next one is the earliest in virtual time.

The agenda has tasks to resume and actions to call, by time and then in a fixed order, so a run depends on the program alone.
A task that has to wait switches directly to the next one: one switch, not two. The caller of the backend's `drive` is
the hub: it starts tasks, and continues when a task has ended or none can run.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Protocol

from fakempi.core.hooks import Hooked
from fakempi.core.kernel.agenda import COMPACT, Agenda, Time
from fakempi.core.kernel.task import Task

MAX_IDLE_ROUNDS = 1000  # rounds of unsuccessful polls of all tasks that count as starvation, by the default `next_poll`

ENDED_LIMIT = 100  # the number of times that a task may catch `Ended` before it is suspended and never resumed


class Ended(BaseException):
    """Raised in every task that has not ended when the run is over. Not an Exception, so few programs catch it."""


class Backend(Protocol):
    """The stacks of tasks. A task that waits calls the next one's `resume()` and then its own `await_turn()`, if any."""

    def prepare(self, loop: Loop, task: Task) -> None:
        """Set `resume` and `await_turn` of a new task."""

    def drive(self, loop: Loop) -> None:
        """Start with `loop.next()` and return when no task can run."""

    def to_hub(self) -> None:
        """Switch to the caller of `drive` or `unwind_task`."""

    def unwind_task(self, task: Task) -> None:
        """From the hub: let a waiting task run until it ends or switches back."""

    def frames(self, tasks: list[Task]) -> dict[Task, Any]:
        """Return the Python frames of waiting tasks."""

    def close(self) -> None:
        """Free everything: the run is over and its tasks have ended."""


class Loop(Agenda, Hooked):
    """Virtual time, the agenda, and the tasks that have not ended."""

    HOOK_POINTS = ("begin", "wait", "defer", "poll", "next", "spawn", "run_at", "call_at", "unwind", "make_resume",
                   "check_caller")  # fmt: skip

    def __init__(self, backend: Backend) -> None:
        super().__init__()
        self.backend = backend
        self.running: Task | None = None
        self.wait_tracker: Any = None  # an object that tracks dependencies between waits, while one is needed
        self.tasks: dict[int, Task] = {}
        self.pollers: list[Task] = []
        self.spawned = self.idle_rounds = self.idle_pollers = 0
        self.starved = self.ending = False
        # If nothing is booked, returns the time of the next polls of `pollers`; None ends the run: no poll can succeed.
        self.next_poll: Callable[[], Time | None] = lambda: self.now if self.idle_rounds <= MAX_IDLE_ROUNDS else None

    def spawn(self, body: Callable[[], None], owner: Any = None, prepare: Any = None) -> Task:
        """Create a task that starts now, after all items that are booked for now. `prepare` replaces the backend's."""
        self.spawned += 1
        task = Task(self, self.spawned, body, owner)
        (prepare or self.backend.prepare)(self, task)
        self.tasks[task.number] = task
        self.run_at(self.now, task)
        return task

    def set_switch(self, task: Task, switch: Callable[[], Any]) -> None:
        """Set the function that lets a task run."""
        task.switch, task.resume = switch, self.make_resume(task, switch)

    def make_resume(self, task: Task, switch: Callable[[], Any]) -> Callable[[], Any]:
        """Return the `resume` of a task, given its backend's switch to it. `set_switch` calls it."""
        return switch

    def check_caller(self, task: Task) -> None:
        """Raise if the caller may not act for the running task; called if the task's `acts_for` is None."""

    def wait(self) -> None:
        """Let other tasks run until the running one is booked and taken off the agenda."""
        me: Any = self.running
        due, due_index = self.due, self.due_index
        if due_index < len(due) and due_index != COMPACT and (to := due[due_index]).__class__ is Task:
            self.running = to  # the most frequent case of `next`, inlined: saves a tenth of a switch
            self.due_index = due_index + 1
        else:
            to = None if self.ending else self.next()
        if to is me:
            return
        if to is not None:
            resume = to.resume  # in two steps, like `await_turn`: `to.resume()` looks for a method first and is slower
            resume()
        elif self.ending:
            self.raise_ended(me)
        else:
            self.backend.to_hub()
        if (await_turn := me.await_turn) is not None:
            await_turn()
        if self.ending:
            self.raise_ended(me)

    def defer(self, at: Time) -> bool:
        """Book the running task for a later time, for which it has to `wait()`; False if the clock moved there instead."""
        if self.due_index == len(self.due) and not self.pollers and self.jump(at):
            return False
        if (items := self.items_at.get(at)) is None:
            self.run_at(at, self.running)
        else:  # `run_at`, inlined
            self.running.booked = self.now  # type: ignore[union-attr]  # a task runs, because it defers
            items.append(self.running)
        return True

    def sleep_until(self, at: Time) -> None:
        """Continue the running task at the given time, without a switch if nothing is booked until then."""
        if self.defer(at):
            self.wait()

    def poll(self) -> None:
        """Let other tasks run after an unsuccessful poll. A task's second poll at one time waits for a later time."""
        me: Any = self.running
        if me.polled_at == self.now:
            self.pollers.append(me)
        else:
            me.polled_at = self.now
            self.late.append(me)
        self.wait()

    def let_others_run(self) -> None:
        """Continue the running task at the same time, after all other tasks have run until they wait."""
        self.late.append(self.running)
        self.wait()

    def next(self) -> Task | None:
        """Call actions that are due until the next item is a task; make it the running task and return it, or None."""
        while not self.ending:
            if self.pollers and self.is_over() and not self._book_pollers():
                break
            item = self.pop()
            if item.__class__ is Task:
                self.running = item
                return item
            if item is None:
                break
            item()
        self.running = None
        return None

    def _book_pollers(self) -> bool:
        """Book the pollers for the next time, since nothing is left at the present one; False if there is no next time."""
        at = self.times[0] if self.times else None
        if at is None:
            self.idle_rounds = self.idle_rounds + 1 if len(self.due) + self.dropped == self.idle_pollers else 0
            at = self.next_poll()
            if at is None:
                self.starved = True
                return False
            self.due.clear()
            self.due_index = self.dropped = 0
            self.idle_pollers = 1 + len(self.pollers)  # if no poll succeeds, there will be no other items at that time
        pollers, self.pollers = self.pollers, []
        self.call_at(at, lambda: self.late.extend(pollers))  # after all others of that time
        return True

    def begin(self, task: Task) -> bool:
        """Run a task to its end, on its own stack. Return True if it was abandoned: then it must not resume another task."""
        try:
            if not self.ending:
                task.body()
        except Ended:
            pass
        finally:
            task.clock = self.now
            abandoned = self.tasks.pop(task.number, None) is None  # the code that removes it resumes the next task
        return abandoned

    def stop(self) -> None:
        """End the run: the hub continues as soon as the running task ends or waits."""
        self.ending = True
        self.clear()
        self.pollers, self.items_at = [], {}  # so that nothing booked from now on is taken, not even for now

    def jump(self, at: Time) -> bool:
        """Move to a later time, unless something is booked until then. After the end of the run, computing takes no time."""
        if self.ending and self.running is not None:
            self.idle_rounds += 1
            if self.idle_rounds > 100 * MAX_IDLE_ROUNDS:  # a `finally` block that never ends
                self.raise_ended(self.running)
        return self.ending or super().jump(at)

    def unwind(self) -> None:
        """End all tasks that are left, in order: `Ended` is raised where each waits, and its `finally` blocks run."""
        self.stop()
        for task in list(self.tasks.values()):
            if task.handle is None:
                del self.tasks[task.number]
            else:
                self.running = task
                self.backend.unwind_task(task)

    def raise_ended(self, me: Task) -> None:
        """Raise `Ended` in a task that waits after the end of the run; suspend a task that has caught it too often."""
        me.ended_count += 1
        if me.ended_count > ENDED_LIMIT:
            abandon_task(self, me)
            self.running = None
            self.backend.to_hub()
            (me.await_turn or bool)()
        self.running = me
        raise Ended


def abandon_task(loop: Loop, task: Task) -> None:
    """Make a task wait indefinitely: it is not resumed, and it does not end."""
    if not hasattr(task.handle, "ident"):  # a greenlet
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(task.handle))  # GreenletExit is raised on collection
    task.clock, task.ended_count = loop.now, ENDED_LIMIT
    loop.tasks.pop(task.number, None)
