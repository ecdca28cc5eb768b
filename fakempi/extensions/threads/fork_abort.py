"""`Abort` in a process that a rank has forked ends the run, as it ends the job under mpiexec.

The new process inherits a pipe and writes the error code to it. A thread of the run's process, which is not one of the run,
reads it. The pipe is closed when the new process and all processes that it forks have ended.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NoReturn

from fakempi.errors import Aborted, RankError
from fakempi.extensions.threads.raw import get_ident, start_new_thread
from fakempi.mpi.base.current import current_process
from fakempi.mpi.base.process import Process

_read, _exit = os.read, os._exit  # a program may replace them

_pipes: dict[int, tuple[int, int]] = {}
"""OS thread that forks -> the ends of the pipe."""


def open_pipe() -> None:
    """Before a fork: open a pipe if a rank forks."""
    process = current_process()
    if process is not None and process.universe.stop_requests is not None and process.universe.abort_of_copy is None:
        with suppress(OSError):  # too many open files
            _pipes[get_ident()] = os.pipe()


def watch_pipe() -> None:
    """In the process of the run, after a fork: wait for an error code in a thread."""
    process, ends = current_process(), _pipes.pop(get_ident(), None)
    if process is not None and ends is not None:
        os.close(ends[1])
        start_new_thread(_watch, (ends[0], process))


def _watch(source: int, process: Process) -> None:
    data = b""
    with suppress(OSError):
        data = _read(source, 16)
        os.close(source)
    stop_requests = process.universe.stop_requests
    if data and stop_requests is not None:
        names = {process.number: process.name}
        stop_requests.stop(RankError(process.number, Aborted(int(data)), names=names))


def write_to_pipe(process: Process) -> None:
    """In the new process: let `Abort` write to the pipe."""
    ends = _pipes.pop(get_ident(), None)
    if ends is None:
        return
    os.close(ends[0])

    def abort(errorcode: int, whole_run: bool) -> NoReturn:
        if whole_run:
            with suppress(OSError):  # the run has ended
                os.write(ends[1], b"%d" % errorcode)
        _exit(errorcode & 0xFF)

    process.universe.abort_of_copy = abort
