"""The agenda as it was when the first rank came to wait, and what has been booked since: enough to have it all once more.

While ranks wait in the hall, others only compute, or wait for what has a known end: each books itself for a later time.
These bookings are written down. To go back is to put the agenda as it was, at the time it was, with every task that has
booked itself since replaced by its bookings: when its turn comes, it books itself for the time that it did, and so on, up to
where it is now. So whatever those do that waited, and now act at their own time, comes among all that in the order in which
it would have come.
"""

from __future__ import annotations

from typing import Any

from fakempi.kernel.agenda import Time
from fakempi.kernel.loop import Loop
from fakempi.kernel.task import Task


class Snapshot:
    """The agenda at a moment in the running task's turn."""

    def __init__(self, loop: Loop) -> None:
        self.loop, self.now, self.first = loop, loop.now, loop.running
        self.today = loop.today[loop.taken :]
        self.later = {at: list(items) for at, items in loop.lists.items() if at != loop.now}
        self.booked: dict[Task, list[Time]] = {}  # since then: for when each task has booked itself, in order

    def is_quiet(self) -> bool:
        """Whether all other tasks are on the agenda, and nothing else is: nobody waits for anything that is not known."""
        count = len(self.today) + sum(map(len, self.later.values()))
        if count != len(self.loop.tasks) - 1 or self.loop.pollers:
            return False
        return all(set(map(type, items)) <= {Task} for items in (self.today, *self.later.values()))

    def note(self, task: Task, at: Time) -> None:
        """A task has booked itself."""
        self.booked.setdefault(task, []).append(at)

    def put_back(self) -> None:
        """Go back to that moment: the first task is next, and all others do again what they did, in their turns."""
        loop = self.loop
        today = [self.first, *self._again(self.today)]
        loop.now, loop.today, loop.taken, loop.cut_off = self.now, today, 0, 0
        loop.lists = {self.now: today, **{at: self._again(items) for at, items in self.later.items()}}
        loop.times = sorted(self.later)

    def _again(self, items: list[Any]) -> list[Any]:
        alive = self.loop.tasks
        return [task if task not in self.booked and task.number in alive else _Bookings(self, task) for task in items]


class _Bookings:
    """A task's bookings, which are made again, each in its turn; then it is the task's own, or that at which it ended."""

    __slots__ = ("done", "loop", "task", "times")

    def __init__(self, snapshot: Snapshot, task: Task) -> None:
        self.loop, self.task, self.times, self.done = snapshot.loop, task, snapshot.booked.get(task, ()), 0

    def __call__(self) -> None:
        """The task's turn."""
        if self.done == len(self.times):
            return  # it has ended here, and time has come to that
        at = self.times[self.done]
        self.done += 1
        last = self.done == len(self.times) and self.task.number in self.loop.tasks
        self.loop.book(at, self.task if last else self)
