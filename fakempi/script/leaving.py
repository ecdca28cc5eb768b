"""`os._exit` of one rank: it stays where it stands and never goes on, so nothing more of it is done, in no `finally` either.

As with mpiexec this ends the others, unless the rank has finalized MPI. What it holds stays in memory until Python ends, and
its thread if it has one.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from operator import index
from types import FrameType, TracebackType
from typing import Any, NoReturn

from fakempi.errors import Left
from fakempi.kernel.loop import stay_behind
from fakempi.mpi.base.current import current_process
from fakempi.script.patches import Patches, Who


def patch_exit(patches: Patches, who: Who, leave: Callable[[Any], None]) -> None:
    """Let `os._exit` end a rank; `leave` is what a process does last on the stage."""
    original, pid = os._exit, os.getpid()

    @functools.wraps(original)
    def exit(status: int) -> NoReturn:
        process = current_process()
        if process is None or os.getpid() != pid:  # or a child that a rank has forked
            original(status)
        code, universe, loop, place = index(status) & 0xFF, process.universe, process.loop, who()
        for task in {process.task, loop.running, *(process.threads or ())}:  # it may be a thread that calls, or a child
            stay_behind(loop, task)
        if place is not None:
            leave(process)
        if not process.finalized:
            universe.fail(process, Left(status).with_traceback(_traceback(sys._getframe(1))))
        elif not loop.ending:
            if place is not None:
                place.codes[process.number] = code
            universe.launch(process, lambda comm: code)  # a new task, to do what is done at the end of a process
        loop.wait()  # and nobody wakes it
        raise AssertionError("a rank that has left goes on")

    patches.set(os, "_exit", exit)


def _traceback(frame: FrameType | None) -> TracebackType | None:
    """That of an exception which was raised there and nobody caught."""
    found = None
    while frame is not None:
        found, frame = TracebackType(found, frame, frame.f_lasti, frame.f_lineno), frame.f_back
    return found
