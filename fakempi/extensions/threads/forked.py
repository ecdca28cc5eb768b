"""A process that a rank has forked: it is not a rank, so it cannot call MPI, and no other rank continues in it."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from fakempi.core.hooks import Layer
from fakempi.core.kernel.agenda import Time
from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.errors.classes import ERR_OTHER
from fakempi.errors.tracebacks import shorten
from fakempi.mpi.base.mpi_errors import mpi_error

SENTENCE = "a process that a rank has forked called MPI: only the rank itself may call MPI."


class Forked:
    """Rejects calls in the copy of a run, and ends the process when its only task, which has forked it, ends."""

    layer = Layer.CALLER

    def __init__(self, loop: Loop) -> None:
        self.universe: Any = loop.running.owner.universe  # type: ignore[union-attr]  # a rank forks
        self.failed = len(self.universe.failures)
        for task in loop.tasks.values():
            task.acts_for = None
        loop.subscribe(self)

    def check_caller(self, proceed: Callable[[Task], None], task: Task) -> None:
        """Reject an MPI call."""
        raise mpi_error(ERR_OTHER, SENTENCE)

    def spawn(self, proceed: Callable[..., Task], *args: Any, **kwargs: Any) -> Task:
        """Reject a nonblocking collective call."""
        raise mpi_error(ERR_OTHER, SENTENCE)

    def wait(self, proceed: Callable[[], None]) -> None:
        """Reject a call that waits."""
        raise mpi_error(ERR_OTHER, SENTENCE)

    def poll(self, proceed: Callable[[], None]) -> None:
        """Reject an unsuccessful poll."""
        raise mpi_error(ERR_OTHER, SENTENCE)

    def defer(self, proceed: Callable[[Time], bool], at: Time) -> bool:
        """Reject a call that takes time."""
        raise mpi_error(ERR_OTHER, SENTENCE)

    def next(self, proceed: Callable[[], Task | None]) -> NoReturn:
        """End the process: its task has ended. The program of a script has ended it before."""
        failures = self.universe.failures[self.failed :]
        for _, error in failures:
            shorten(error)
            traceback.print_exception(error)
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):  # the program may have closed it
                stream.flush()
        os._exit(1 if failures else 0)
