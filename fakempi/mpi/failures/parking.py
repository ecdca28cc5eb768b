"""Parked tasks: tasks of killed ranks, and of daemon threads whose rank has ended. They do not continue.

At the end of the run they are unwound (their `finally` blocks run), like all other tasks.
"""

from __future__ import annotations

from functools import partial

from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.mpi.base.process import Universe
from fakempi.mpi.failures.state import FailureState


def park(universe: Universe, task: Task) -> None:
    """Stop a task where it is: from now on, resuming this task resumes the next task of the agenda instead."""
    loop = universe.loop
    universe.state(FailureState).parked.append((task, task.switch))
    loop.tasks.pop(task.number, None)
    if task in loop.pollers:
        loop.pollers.remove(task)
    loop.set_switch(task, partial(_resume_next, loop))
    if task is loop.running:
        # `Loop.wait` returns to its caller if that is the next entry of the agenda. A placeholder as the next entry prevents
        # this; resuming it resumes the task after it.
        placeholder = Task(loop, 0, lambda: None, None)
        loop.set_switch(placeholder, task.switch)
        loop.due.insert(loop.due_index, placeholder)


def _resume_next(loop: Loop) -> None:
    task = loop.next()
    if task is None:
        loop.backend.to_hub()
    else:
        task.resume()


def unpark(universe: Universe) -> None:
    """Return parked tasks to the loop at the end of the run, so that they are unwound with the others."""
    parked = universe.state(FailureState).parked
    for task, switch in parked:
        universe.loop.set_switch(task, switch)
        universe.loop.tasks[task.number] = task
    parked.clear()
