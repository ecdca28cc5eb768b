"""Locks in runs of the model checker: a choice determines which of a rank's threads gets a lock.

A thread that requests a lock waits until no task can run, even if the lock is free, so that the requests of other threads
are known. Locks inside objects of the standard library are granted as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from fakempi.extensions.threads.current import current_task
from fakempi.extensions.threads.rank_threads import RankThread
from fakempi.extensions.threads.waiting import ThreadWait
from fakempi.mpi.base.call_site import is_library, is_ours, place_of

steered_loops: list[Any] = []
"""Loops of runs of the model checker."""


@contextmanager
def chosen_grants(loop: Any) -> Iterator[None]:
    """While active, choices grant the locks of this run; if the run succeeds, `choices.end` is called."""
    steered_loops.append(loop)
    try:
        yield
        loop.choices.end()
    finally:
        steered_loops.remove(loop)


def request_grant(lock: Any, frame: FrameType, is_free: Callable[[], bool]) -> None:
    """In a run of the model checker: wait until a choice grants the lock to the calling thread."""
    task = current_task()
    choices = None if task is None or task.agenda not in steered_loops else task.owner.universe.choices
    if choices is None or not task.owner.threads or is_library(frame) or is_ours(frame):
        return
    thread = task.handle if isinstance(task.handle, RankThread) else None
    name = task.owner.name if thread is None else f"thread {thread.name!r} of {task.owner.name}"
    choices.lock(lock, is_free, name, place_of(frame), ThreadWait(task, lock))
