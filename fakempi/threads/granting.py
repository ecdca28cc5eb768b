"""Locks in runs whose choices are made by somebody: who of a rank's threads gets a lock is one of them.

A thread that wants a lock waits until nothing else can happen, whether or not the lock is free, so that others that want it
are seen. Locks inside of what the standard library makes of them are granted as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from fakempi.mpi.base.complain import is_library, is_ours, site_of
from fakempi.threads.guests import Guest
from fakempi.threads.here import task_here
from fakempi.threads.waiting import Wait

steered: list[Any] = []
"""Loops of runs whose choices are made by somebody."""


@contextmanager
def chosen_grants(loop: Any) -> Iterator[None]:
    """In this run, locks are granted by choice; if it goes well, whoever made the choices is told."""
    steered.append(loop)
    try:
        yield
        loop.choices.end()
    finally:
        steered.remove(loop)


def ask_for(lock: Any, frame: FrameType, is_free: Callable[[], bool]) -> None:
    """If it is a thread of such a run that wants a lock: wait until it is chosen to have it."""
    task = task_here()
    choices = None if task is None or task.agenda not in steered else task.owner.universe.choices
    if choices is None or not task.owner.threads or is_library(frame) or is_ours(frame):
        return
    guest = task.handle if isinstance(task.handle, Guest) else None
    who = task.owner.name if guest is None else f"thread {guest.name!r} of {task.owner.name}"
    choices.lock(lock, is_free, who, site_of(frame), Wait(task, lock))
