"""A process that a rank has forked: it is not a rank, so it cannot call MPI, and no other rank continues in it.

`Abort` ends the run, as it ends the job under mpiexec. The new process inherits a pipe and writes the error code to it. A
thread of the run's process, which is not one of the run, reads it. The pipe is closed when the new process and all processes
that it forks have ended. The new process exits after an answer: otherwise the rank that waits for it could continue first,
and the run would end with a deadlock.
"""

from __future__ import annotations

import os
import select
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from fakempi.core.hooks import Layer
from fakempi.core.kernel.agenda import Time
from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.errors import Aborted, RankError
from fakempi.errors.classes import ERR_OTHER
from fakempi.errors.tracebacks import shorten
from fakempi.extensions.threads.raw import get_ident, start_new_thread
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.process import Process

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


# -- Abort ---------------------------------------------------------------------------------------------------------------

_read, _exit = os.read, os._exit  # a program may replace them

ANSWER_WITHIN = 5000
"""Milliseconds that the new process waits for an answer, which does not arrive if the run's process was killed."""

_pipes: dict[int, tuple[int, int, int, int]] = {}
"""OS thread that forks -> the ends of the pipe, and of the pipe for the answer: to read and to write, each."""


def open_pipe() -> None:
    """Before a fork: open a pipe if a rank forks."""
    process = current_process()
    if process is not None and process.universe.stop_requests is not None and process.universe.abort_of_copy is None:
        with suppress(OSError):  # too many open files
            _pipes[get_ident()] = *os.pipe(), *os.pipe()


def watch_pipe() -> None:
    """In the process of the run, after a fork: wait for an error code in a thread."""
    process, ends = current_process(), _pipes.pop(get_ident(), None)
    if process is not None and ends is not None:
        os.close(ends[1])
        os.close(ends[2])
        start_new_thread(_watch, (ends[0], ends[3], process))


def _watch(source: int, answer: int, process: Process) -> None:
    data = b""
    with suppress(OSError):
        data = _read(source, 16)
        os.close(source)
    stop_requests = process.universe.stop_requests
    if data and stop_requests is not None:
        names = {process.number: process.name}
        stop_requests.stop(RankError(process.number, Aborted(int(data)), names=names))
    with suppress(OSError):
        os.write(answer, b" ")
    os.close(answer)


def write_to_pipe(process: Process) -> None:
    """In the new process: let `Abort` write to the pipe."""
    ends = _pipes.pop(get_ident(), None)
    if ends is None:
        return
    os.close(ends[0])
    os.close(ends[3])

    def abort(errorcode: int, whole_run: bool) -> NoReturn:
        if whole_run:
            with suppress(OSError):  # the run has ended
                os.write(ends[1], b"%d" % errorcode)
                poll = select.poll()
                poll.register(ends[2], select.POLLIN)
                poll.poll(ANSWER_WITHIN)
        _exit(errorcode & 0xFF)

    process.universe.abort_of_copy = abort
