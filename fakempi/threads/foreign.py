"""Threads that no rank has started: they may not call MPI, and are told so where they do.

Whose turn it is, is the loop's to say, and every call that sends, receives or waits asks it. To look on each of these
occasions which OS thread asks would take a fiftieth of a message in a ring (two looks of 0.06 microseconds out of 6). So
nobody looks as long as there is no other thread. Then a loop becomes one that looks (`Watched`).

The same look is taken at a rank's own threads, if the rank has asked for less than `MPI.THREAD_MULTIPLE`.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from fakempi.error_classes import ERR_OTHER
from fakempi.kernel.agenda import Time
from fakempi.kernel.loop import Loop
from fakempi.kernel.task import Task
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.constants import THREAD_FUNNELED, THREAD_MULTIPLE, THREAD_SERIALIZED, THREAD_SINGLE
from fakempi.mpi.base.current import FOREIGN, here, outside
from fakempi.mpi.evidence.waits import is_in_a_call
from fakempi.threads import own_greenlets
from fakempi.threads.guests import Guest
from fakempi.threads.raw import get_ident

LEVELS = {THREAD_SINGLE: "MPI.THREAD_SINGLE", THREAD_FUNNELED: "MPI.THREAD_FUNNELED"}
"""At which one thread of a rank may call."""

NO_CALLS = ("fakempi.kernel.", "fakempi.threads.", "fakempi.mpi.base.environment")
"""Who asks in these is in no MPI call: it computes, or waits for another thread."""

KNOWN = ("task ", "pytest_timeout ")
"""How the names of threads begin that leave runs alone."""


class Watched(Loop):
    """A loop whose tasks are not the only ones to ask it: others are refused before they have changed anything."""

    @property
    def running(self) -> Task | None:
        """The task that has the baton, for threads of this run alone."""
        task: Task | None = self.__dict__["running"]
        if task is None:
            return None
        if here.loop is None:
            raise complaint(ERR_OTHER, FOREIGN)
        own_greenlets.check(task)
        if task.owner.threads and asks_for_less(task.owner):
            _check_level(task, str(sys._getframe(1).f_globals["__name__"]))
        return task

    @running.setter
    def running(self, task: Task | None) -> None:
        self.__dict__["running"] = task

    def defer(self, at: Time) -> bool:
        """As ever, but time does not move for just anybody."""
        assert self.running is not None
        return super().defer(at)


def _check_level(task: Task, asks: str) -> None:
    """Complain if a rank has asked for less than this; `asks` is the module that wants to know who runs."""
    process = task.owner
    level = process.thread_level
    if asks.startswith(NO_CALLS):
        return
    if level in LEVELS and isinstance(task.handle, Guest):
        raise complaint(
            ERR_OTHER,
            f"this is a thread that {process.name} has started, and that rank has asked for {LEVELS[level]}: only the rank "
            "itself may call MPI.",
        )
    if level == THREAD_SERIALIZED and any(is_in_a_call(other) for other in _others(task)):
        raise complaint(
            ERR_OTHER,
            f"another thread of {process.name} is in an MPI call, and that rank has asked for MPI.THREAD_SERIALIZED: one "
            "at a time may call MPI.",
        )


def _others(task: Task) -> list[Any]:
    process = task.owner
    return [other for other in (process.task, *process.threads) if other is not task]


def watch(loop: Loop) -> None:
    """From now on, look who asks."""
    if type(loop) is Loop:
        loop.__class__ = Watched


def look_around(loop: Loop) -> None:
    """When a run begins: if there are other threads already, look who asks."""
    if len(threading._active) > 1 and strangers():  # type: ignore[attr-defined]  # `active_count` takes a lock for it
        watch(loop)


def strangers() -> bool:
    """Whether there are threads besides this one that belong to no run; what is left of a run counts as that run's.

    pytest-timeout's timer does not count: it only ends the process, and it is there while any test runs.
    """
    return outside.runs > 1 or any(
        thread.ident != get_ident() and not thread.name.startswith(KNOWN) and not hasattr(thread, "_fakempi_known")
        for thread in list(threading._active.values())  # type: ignore[attr-defined]
    )


def is_no_stranger(thread: threading.Thread) -> None:
    """A thread about to be started is a rank's, or one of ours that leaves runs alone: nobody has to look out for it."""
    thread._fakempi_known = True  # type: ignore[attr-defined]


def asks_for_less(process: Any) -> bool:
    """Whether a rank's threads may not call MPI all at once."""
    return process.thread_level is not None and process.thread_level < THREAD_MULTIPLE
