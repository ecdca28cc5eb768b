"""Undo a pending fused call: a snapshot of the agenda at its first call, the later entries, and the events that undo it.

While ranks wait for a pending call, other ranks may only compute, or wait for an event with a known end. Each of them then
adds an entry for a later time to the agenda, and these entries are recorded. If a rank does anything else, `Watch` undoes
the call: `restore` resets the agenda and the time, and repeats the recorded entries of each task, one in each of its turns,
up to its present position. The ranks then continue as they would have without the pending call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.core.hooks import Layer
from fakempi.core.kernel.agenda import Agenda, Time
from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task


class Snapshot:
    """The agenda at a moment in the running task's turn."""

    def __init__(self, loop: Loop) -> None:
        self.loop, self.now, self.caller = loop, loop.now, loop.running
        self.due_now = loop.due[loop.due_index :]
        self.due_later = {at: list(items) for at, items in loop.items_at.items() if at != loop.now}
        self.booked_at = {task: task.booked for items in self.due_later.values() for task in items if type(task) is Task}
        self.booked: dict[Task, list[Time]] = {}  # task -> the times of its later entries, in order

    def has_all_other_tasks(self) -> bool:
        """Return whether the agenda has all other tasks and nothing else: no rank waits for an unknown end."""
        count = len(self.due_now) + sum(map(len, self.due_later.values()))
        tasks_only = all(set(map(type, items)) <= {Task} for items in (self.due_now, *self.due_later.values()))
        loop = self.loop
        busy = loop.actions_at or loop.unfinished or loop.late or loop.pollers
        return tasks_only and count == len(loop.tasks) - 1 and not busy

    def restore(self) -> None:
        """Go back to that moment: the caller is next, and the others repeat their bookings in their turns."""
        loop = self.loop
        due_now = [self.caller, *self._repeated(self.due_now)]
        loop.now, loop.due, loop.due_index, loop.dropped = self.now, due_now, 0, 0
        loop.items_at = {self.now: due_now, **{at: self._repeated(items) for at, items in self.due_later.items()}}
        loop.times = sorted(self.due_later)

    def _repeated(self, items: list[Any]) -> list[Any]:
        unchanged = self.loop.tasks.keys() - {task.number for task in self.booked}
        return [task if task.number in unchanged else _RepeatedBookings(self, task) for task in items]


class _RepeatedBookings:
    """Repeats the bookings of a task, one per turn; the last one books the task itself, unless it has ended."""

    __slots__ = ("booked", "done", "loop", "order", "task", "times")

    def __init__(self, snapshot: Snapshot, task: Task) -> None:
        self.loop, self.task, self.times, self.done = snapshot.loop, task, snapshot.booked.get(task, ()), 0
        self.order, self.booked = task.order, snapshot.booked_at.get(task)

    def __call__(self) -> None:
        """Repeat the next booking, in the task's turn."""
        if self.done == len(self.times):
            return  # the task ended after its last booking
        at = self.times[self.done]
        self.done += 1
        last = self.done == len(self.times) and self.task.number in self.loop.tasks
        self.loop.run_at(at, self.task if last else self)


class Watch:
    """Subscriber to the loop and to the network."""

    layer = Layer.FUSED

    def __init__(self, calls: Any) -> None:
        self.calls = calls
        self.deferred = False  # whether the running task has added an entry for itself and is about to wait for it

    def wait(self, proceed: Callable[[], None]) -> None:
        """Undo the pending call if a task waits for an unknown end; a task may wait for its own booking."""
        if not self.deferred:
            self.calls.undo_pending()
        self.deferred = False
        proceed()

    def defer(self, proceed: Callable[[Time], bool], at: Time) -> bool:
        """Record that a task books itself for a later time; undo the pending call if it does not synchronize."""
        loop, calls = self.calls.loop, self.calls
        if not loop.ending and (at >= calls.first_end or not all(call.program.synchronizing for call in calls.pending)):
            calls.undo_pending()  # another rank leaves, or may leave, before this one calls
        if not calls.pending or loop.ending:
            return proceed(at)
        calls.snapshot.booked.setdefault(loop.running, []).append(at)
        if loop.due_index == len(loop.due) and loop.jump(at):
            return False
        Agenda.run_at(loop, at, loop.running)
        self.deferred = True
        return True

    def other(self, proceed: Callable[..., Any], *args: Any) -> Any:
        """Undo the pending call: a task creates a task, books another one, polls, sends, or queries messages."""
        self.calls.undo_pending()
        return proceed(*args)

    poll = spawn = run_at = call_at = send = post_receive = match_waiting = send_matched = all_arrived_at = other
