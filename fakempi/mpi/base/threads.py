"""Threads that a rank starts: they may not call MPI, and are told so where they do.

Whose turn it is, is the loop's to say, and every call that sends, receives or waits asks it. To look on each of these
occasions which OS thread asks would take a fiftieth of a message in a ring (two looks of 0.06 microseconds out of 6). So
nobody looks until a rank starts a thread. From then on its loop is one that looks (`Watched`).

What is not seen: threads that were there before the run, as in a pool that is kept, and those that are started without
`threading`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fakempi.error_classes import ERR_OTHER
from fakempi.kernel.agenda import Time
from fakempi.kernel.loop import Loop
from fakempi.kernel.task import Task
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.current import here, name_of_starter, outside, starter_in_words


class Watched(Loop):
    """A loop whose tasks are not the only ones to ask it: others are refused before they have changed anything."""

    @property
    def running(self) -> Task | None:
        """The task that has the baton, for threads of this run alone."""
        task: Task | None = self.__dict__["running"]
        if task is not None and here.loop is None:
            raise complaint(ERR_OTHER, starter_in_words())
        return task

    @running.setter
    def running(self, task: Task | None) -> None:
        self.__dict__["running"] = task

    def defer(self, at: Time) -> bool:
        """As ever, but time does not move for just anybody."""
        assert self.running is not None
        return super().defer(at)


class _Starts:
    """What `threading.Thread.start` is while runs go on, of which there may be several at once."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.original: Any = None

    def watch(self) -> None:
        """A run begins."""
        with self.lock:
            outside.runs += 1
            if outside.runs == 1:
                self.original = threading.Thread.start
                setattr(threading.Thread, "start", _start)  # noqa: B010

    def leave(self) -> None:
        """A run has ended."""
        with self.lock:
            outside.runs -= 1
            if outside.runs == 0 and threading.Thread.start is _start:
                setattr(threading.Thread, "start", self.original)  # noqa: B010


_starts = _Starts()


def _start(thread: threading.Thread) -> None:
    """Start a thread; if it is a rank that does so, or a thread of a rank's, remember whose it is."""
    name, loop = name_of_starter(), here.loop
    is_task = loop is not None and loop.running is not None and loop.running.handle is thread
    if name is not None and not is_task:  # nor the carrier, for the task that is next
        thread._fakempi_starter = name  # type: ignore[attr-defined]
        if loop is not None:
            loop.__class__ = Watched
    _starts.original(thread)


@contextmanager
def watch_threads() -> Iterator[None]:
    """While this goes on, it is noticed when ranks start threads."""
    _starts.watch()
    try:
        yield
    finally:
        _starts.leave()
