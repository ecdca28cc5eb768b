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

    Tasks are started by the hub alone: a greenlet inherits the recursion depth of whoever starts it, so tasks that
    start one another would run into the recursion limit after a few hundred.
    """

    def prepare(self, loop: Loop, task: Task) -> None:
        """Until it has started, the way to a task leads through the hub."""
        task.resume = partial(self._start, loop, task)
        task.rest = None  # a switch returns when the baton is back

    def drive(self, loop: Loop) -> None:
        """Start tasks and go on with those that are due until nothing is."""
        self.hub, self.thread = getcurrent(), get_ident()
        task = loop.next()
        while task is not None:
            task = task.resume() or loop.next()

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

    def _start(self, loop: Loop, task: Task) -> Any:
        if getcurrent() is not self.hub:
            return self.hub.switch(task)
        task.handle = greenlet(loop.begin)
        task.resume = self.way_to(switch.__get__(task.handle))
        return switch(task.handle, task)

    def way_to(self, resume: Callable[[], Any]) -> Callable[[], Any]:
        """How to resume a greenlet, given its switch."""
        return resume
