"""The baton: exactly one task runs at a time, and the next one is the earliest in virtual time.

On the agenda are tasks to go on with and actions to call, in the order of their times and then of booking, so a run never
depends on anything but the program. A task that has to wait hands the baton straight to the next one: one switch, not two.
The caller of the carrier's `drive` is the hub: it starts tasks, and gets the baton when one has ended or nothing can go on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Protocol

from fakempi.kernel.agenda import COMPACT, Agenda, Time
from fakempi.kernel.task import Task

PATIENCE = 1000
"""Rounds in which all that could run only polled, in vain, before they count as starved, unless `vain` knows better."""

REFUSALS = 100
"""How often a task may catch the order to end and go on before it is left where it stands."""


class Ended(BaseException):
    """Thrown into every task that still waits when a run is over; not an Exception, so few programs catch it."""


class Carrier(Protocol):
    """What tasks run on. A task that has to wait calls the next one's `resume()` and then its own `rest()`, if any."""

    def prepare(self, loop: Loop, task: Task) -> None:
        """Give a new task its `resume` and `rest`."""

    def drive(self, loop: Loop) -> None:
        """Start with `loop.next()` and return when nothing can run."""

    def to_hub(self) -> None:
        """Hand the baton to whoever called `drive` or `wind_up`."""

    def wind_up(self, task: Task) -> None:
        """From the hub: let a waiting task run until it ends or hands the baton back."""

    def frames(self, tasks: list[Task]) -> dict[Task, Any]:
        """The Python frames at which waiting tasks stand."""

    def close(self) -> None:
        """The run is over and its tasks have ended: leave nothing behind."""


class Loop(Agenda):
    """Virtual time, the agenda, and the tasks that have not ended."""

    def __init__(self, carrier: Carrier) -> None:
        super().__init__()
        self.carrier = carrier
        self.running: Task | None = None
        self.tasks: dict[int, Task] = {}
        self.pollers: list[Task] = []
        self.spawned = self.idle_rounds = self.idlers = 0
        self.starved = self.ending = False
        # When those who polled in vain look again, if nothing is booked; None is never.
        self.vain: Callable[[], Time | None] = lambda: self.now if self.idle_rounds <= PATIENCE else None

    def spawn(self, body: Callable[[], None], owner: Any = None, prepare: Any = None) -> Task:
        """A new task that starts now, after everything that is booked for now already; it runs as `prepare` says."""
        self.spawned += 1
        task = Task(self, self.spawned, body, owner)
        (prepare or self.carrier.prepare)(self, task)
        self.tasks[task.number] = task
        self.book(self.now, task)
        return task

    def wait(self) -> None:
        """Stop the running task until somebody wakes it."""
        me: Any = self.running
        today, taken = self.today, self.taken
        if taken < len(today) and taken != COMPACT and today[taken].__class__ is Task:
            to: Task | None = today[taken]  # what `next` does most of the time, inlined: a tenth of a switch
            self.running, self.taken = to, taken + 1
        else:
            to = None if self.ending else self.next()
        if to is me:
            return
        if to is not None:
            resume = to.resume  # and then called, like `rest`: to call an attribute as if it were a method is slower
            resume()
        elif self.ending:
            self.refuse(me)
        else:
            self.carrier.to_hub()
        if (rest := me.rest) is not None:
            rest()
        if self.ending:
            self.refuse(me)

    def defer(self, at: Time) -> bool:
        """Book the running task for a later time, for which it has to `wait()`; False if time has just moved on."""
        if self.taken == len(self.today) and not self.pollers and self.jump(at):
            return False
        items = self.lists.get(at)  # `book`, inlined: nearly every wait comes by here
        if items is None or self.ending:
            self.book(at, self.running)
        else:
            items.append(self.running)
        return True

    def sleep_until(self, at: Time) -> None:
        """The running task goes on at the given time; without a switch if nothing comes before."""
        if self.defer(at):
            self.wait()

    def poll(self) -> None:
        """The running task found nothing: others may run, and it comes back.

        The first time at the same moment, so that to test takes no time; then when time has moved, so that loops end.
        """
        me: Any = self.running
        if me.polled_at == self.now:
            self.pollers.append(me)
        else:
            me.polled_at = self.now
            self.book(self.now, me)
        self.wait()

    def next(self) -> Task | None:
        """Do what is due until a task can go on, and give it the baton; None if nothing can ever happen."""
        while not self.ending:
            if self.pollers and self.taken == len(self.today) and not self._time_moves():
                break
            item = self.take()
            if item.__class__ is Task:
                self.running = item
                return item
            if item is None:
                break
            item()
        self.running = None
        return None

    def _time_moves(self) -> bool:
        """Nothing is left to do now: book the pollers for the next moment; False if there will be none."""
        at = self.times[0] if self.times else None
        if at is None:
            self.idle_rounds = self.idle_rounds + 1 if len(self.today) + self.cut_off == self.idlers else 0
            at = self.vain()
            if at is None:
                self.starved = True
                return False
            self.today.clear()
            self.taken = self.cut_off = 0
            self.idlers = len(self.pollers)  # nobody but they will be booked if nothing changes
        for task in self.pollers:
            self.book(at, task)
        self.pollers.clear()
        return True

    def begin(self, task: Task) -> bool:
        """The body of every carrier's thread of control: run the task to its end. True if another has its baton already."""
        try:
            if not self.ending:
                task.body()
        except Ended:
            pass
        finally:
            task.clock = self.now
            lost = self.tasks.pop(task.number, None) is None  # whoever takes it from there hands the baton on
        return lost

    def stop(self) -> None:
        """Nothing more is to happen: the baton goes to the hub as soon as the running task ends or waits."""
        self.ending = True
        self.clear()
        self.pollers.clear()
        self.book = lambda at, item: None  # type: ignore[method-assign]  # nothing is booked any more,
        self.jump = self._idle_on  # type: ignore[method-assign]  # and who computes in a `finally` does not wait

    def _idle_on(self, at: Time) -> bool:
        """Computing when all is over takes no time; but not for ever."""
        self.idle_rounds += 1
        if self.idle_rounds > 100 * PATIENCE and self.running is not None:
            self.refuse(self.running)
        return True

    def unwind(self) -> None:
        """End every task that is left, in order: each raises `Ended` where it waits and runs its `finally` blocks."""
        self.stop()
        for task in list(self.tasks.values()):
            if task.handle is None:
                del self.tasks[task.number]
            else:
                self.running = task
                self.carrier.wind_up(task)

    def refuse(self, me: Task) -> None:
        """The run is over: say so to whoever wants to wait, and park for good those that will not listen."""
        me.refusals += 1
        if me.refusals > REFUSALS:
            stay_behind(self, me)
            self.running = None
            self.carrier.to_hub()
            (me.rest or bool)()
        self.running = me
        raise Ended


def stay_behind(loop: Loop, task: Task) -> None:
    """See to it that a task does not go on once it has waited, nor is told to end."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(task.handle))  # a greenlet is told to when it is collected
    task.clock, task.refusals = loop.now, REFUSALS
    loop.tasks.pop(task.number, None)
