"""Tasks as greenlets: a switch takes half a microsecond, and a waiting task needs a few kilobytes."""

from __future__ import annotations

from _thread import get_ident
from functools import partial
from typing import Any

from greenlet import getcurrent, greenlet

from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task

switch = greenlet.switch  # kept here, since a run may replace the method (extensions/threads/program_greenlets.py)


class Greenlets:
    """All tasks in the caller's thread. Only the hub starts them: a greenlet inherits its starter's recursion depth."""

    def __init__(self) -> None:
        self.hub, self.thread = getcurrent(), get_ident()
        self.gate: Any = None  # a MixedBackend, by which other OS threads resume greenlets, once there are such threads
        self.idle: list[greenlet] = []  # of ended tasks, for reuse: a new greenlet takes 10 us more

    def prepare(self, loop: Loop, task: Task) -> None:
        """Set `resume` of a new task: switch to the hub, which starts it. `await_turn` is None: `resume` itself waits."""
        task.await_turn, task.switch = None, self._through_gate(partial(switch, self.hub, task))
        task.resume = task.switch

    def drive(self, loop: Loop) -> None:
        """Start and resume tasks until none is due."""
        task: Any = loop.next()
        while task is not None:
            idle = self.idle or [greenlet(self._run)]
            task = (switch(idle.pop(), task) if task.handle is None else task.resume()) or loop.next()

    def to_hub(self) -> None:
        """Switch to the hub."""
        self.hub.switch(None) if self.gate is None else self.gate.to_hub()

    def unwind_task(self, task: Task) -> None:
        """From the hub: let a task run until it ends or switches back."""
        task.resume()

    def frames(self, tasks: list[Task]) -> dict[Task, Any]:
        """Return the frames of waiting tasks."""
        frame_of: Any = (lambda task: task.handle.gr_frame) if self.gate is None else self.gate.frames()
        return {task: frame_of(task) for task in tasks if task.handle is not None}

    def close(self) -> None:
        """End all greenlets, in the order of their addresses, so that the freed memory is less fragmented."""
        for idle in sorted(self.idle, key=id):
            switch(idle, None)

    def _run(self, task: Any) -> None:
        """In a greenlet: run tasks one after the other, each with new context variables."""
        me = getcurrent()
        while task is not None:
            task.handle, me.gr_context = me, None
            task.agenda.set_switch(task, self._through_gate(switch.__get__(me)))
            task.agenda.begin(task)
            self.idle.append(me)
            task = switch(self.hub, None)

    def _through_gate(self, to: Any) -> Any:
        return to if self.gate is None else self.gate.from_anywhere(to)
