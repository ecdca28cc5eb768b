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
    """All tasks in the caller's thread.

    The hub starts all greenlets: they inherit the recursion depth of whoever does, and would come to its limit.
    """

    def __init__(self) -> None:
        self.hub, self.thread = getcurrent(), get_ident()

    def prepare(self, loop: Loop, task: Task) -> None:
        """Until it has started, the way to a task leads through the hub. A switch returns when the baton is back."""
        task.resume, task.rest = partial(switch, self.hub, task), ().__len__  # the cheapest call that does nothing

    def drive(self, loop: Loop) -> None:
        """Start tasks and go on with those that are due until nothing is."""
        task: Any = loop.next()
        while task is not None:
            task = (switch(greenlet(self._run), loop, task) if task.handle is None else task.resume()) or loop.next()

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
        """Nothing to do: an ended greenlet is gone."""

    def _run(self, loop: Loop, task: Any) -> Any:
        """In a greenlet: a task, and those after it that have not started, since a new greenlet takes longer (9 us)."""
        me = getcurrent()
        while task is not None and task.handle is None:  # a task has none of the last one's context variables
            task.handle, task.resume, me.gr_context = me, self.way_to(switch.__get__(me)), None
            loop.begin(task)
            task = loop.next()
        return task  # which the hub goes on with

    def way_to(self, resume: Callable[[], Any]) -> Callable[[], Any]:
        """How to resume a greenlet, given its switch."""
        return resume
