"""Tasks as greenlets: a switch costs half a microsecond, and a waiting task a few kilobytes."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from functools import partial
from typing import Any

from greenlet import getcurrent, greenlet

from fakempi.kernel.loop import Loop
from fakempi.kernel.task import Task

switch = greenlet.switch  # which the program may find changed


class Greenlets:
    """All tasks in the caller's thread. The hub starts all: a greenlet inherits the recursion depth of whoever does."""

    def __init__(self) -> None:
        self.hub, self.thread = getcurrent(), get_ident()
        self.idle: list[greenlet] = []  # whose tasks have ended: others can go on there, a new one takes longer (10 us)

    def prepare(self, loop: Loop, task: Task) -> None:
        """Until it has started, the way to a task leads through the hub. A switch returns when the baton is back."""
        task.resume, task.rest = partial(switch, self.hub, task), None

    def drive(self, loop: Loop) -> None:
        """Start tasks and go on with those that are due until nothing is."""
        task: Any = loop.next()
        while task is not None:
            idle = self.idle or [greenlet(self._run)]
            task = (switch(idle.pop(), task) if task.handle is None else task.resume()) or loop.next()

    def to_hub(self) -> None:
        """The hub goes on with whatever is next."""
        self.hub.switch(None)

    def wind_up(self, task: Task) -> None:
        """From the hub, until the task ends or is parked."""
        task.resume()

    def frames(self, tasks: list[Task]) -> dict[Task, Any]:
        """Where waiting tasks stand."""
        return {task: task.handle.gr_frame for task in tasks if task.handle is not None}

    def close(self) -> None:
        """Let all greenlets end in the order of their memory: otherwise that is given back in too many pieces."""
        for one in sorted(self.idle, key=id):
            switch(one, None)

    def _run(self, task: Any) -> None:
        """In a greenlet: tasks, one after the other, none of which sees the context variables of those before."""
        me = getcurrent()
        while task is not None:
            task.handle, task.resume, me.gr_context = me, self.way_to(switch.__get__(me)), None
            task.agenda.begin(task)
            self.idle.append(me)
            task = switch(self.hub, None)

    def way_to(self, resume: Callable[[], Any]) -> Callable[[], Any]:
        """How to resume a greenlet, given its switch."""
        return resume
