"""`os._exit` on one rank: its tasks never continue, so no `finally` block of the rank is executed.

As with mpiexec, this ends the other ranks unless the rank has finalized MPI. The objects on its stack, and its thread if it
has one, stay in memory until Python exits.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from operator import index
from types import FrameType, TracebackType
from typing import Any, NoReturn

from fakempi.core.kernel.loop import abandon_task
from fakempi.errors import ExitWithoutFinalize
from fakempi.isolation.patches import Patches, RunningState
from fakempi.mpi.base.call_site import frame_at
from fakempi.mpi.base.current import current_process


def patch_exit(patches: Patches, running_state: RunningState, leave: Callable[[Any], None]) -> None:
    """Make `os._exit` end the calling rank; `leave(process)` removes the state of the rank."""
    original, pid = os._exit, os.getpid()

    @functools.wraps(original)
    def exit(status: int) -> NoReturn:
        process = current_process()
        if process is None or os.getpid() != pid:  # outside ranks, or in a child process that a rank has forked
            original(status)
        code, universe, loop, state = index(status) & 0xFF, process.universe, process.loop, running_state()
        for task in {process.task, loop.running, *(process.threads or ())}:  # the caller may be a thread or a child task
            abandon_task(loop, task)
        if state is not None:
            leave(process)
        if not process.finalized:
            universe.fail(process, ExitWithoutFinalize(status).with_traceback(_traceback(frame_at(1))))
        elif not loop.ending:
            if state is not None:
                state.codes[process.number] = code
            universe.launch(process, lambda comm: code)  # a new task ends the process regularly
        loop.wait()  # never woken
        raise AssertionError("a rank continued after os._exit")

    patches.set(os, "_exit", exit)


def reason_against_exec() -> Callable[[], str]:
    """Return a function that returns why its caller may not call `os.execv`; empty outside ranks, and for a single rank."""
    pid = os.getpid()

    def reason() -> str:
        process = current_process()
        if process is None or os.getpid() != pid or len(process.universe.processes) == 1:
            return ""
        return f"rank {process.number} would replace the Python process, which all ranks share."

    return reason


def _traceback(frame: FrameType | None) -> TracebackType | None:
    """Return the traceback of an exception raised in this frame."""
    traceback = None
    while frame is not None:
        traceback, frame = TracebackType(traceback, frame, frame.f_lasti, frame.f_lineno), frame.f_back
    return traceback
