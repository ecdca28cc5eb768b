"""Tasks that are left where they stand, and are ended with the others when the run is over."""

from __future__ import annotations

from functools import partial
from typing import Any

from fakempi.kernel.loop import Loop
from fakempi.kernel.task import Task


def park(universe: Any, task: Task) -> None:
    """Leave a task where it stands: whoever resumes it resumes the next."""
    loop: Loop = universe.loop
    universe.parked.append((task, task.resume))
    loop.tasks.pop(task.number, None)
    if task in loop.pollers:
        loop.pollers.remove(task)
    task.resume = partial(_pass_on, loop)
    if task is loop.running:  # it looks for what comes next, and would go on if that were itself: it is a stop on the way
        stop = Task(loop, 0, lambda: None, None)
        stop.resume = task.resume
        loop.today.insert(loop.taken, stop)


def _pass_on(loop: Loop) -> Any:
    to = loop.next()
    return loop.carrier.to_hub() if to is None else to.resume()


def unpark(universe: Any) -> None:
    """The run is over: those that were left are ended with the others."""
    for task, resume in universe.parked:
        task.resume = resume
        universe.loop.tasks[task.number] = task
    universe.parked.clear()
