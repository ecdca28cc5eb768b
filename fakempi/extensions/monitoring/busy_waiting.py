"""Report a rank that waits for another rank in a loop without an MPI call, such as for a flag in shared memory.

One rank runs at a time, until an MPI call lets others run, so such a loop never ends. The purpose of a loop cannot be
determined, so the loop is only reported, and the run continues. The report is written if a rank has run for ten seconds, was
always observed in the same few lines of one function, at different instructions or at the end of a `while` loop (so it is
not a single long call), and other ranks have not ended.
"""

from __future__ import annotations

import dis
from types import FrameType
from typing import Any

from fakempi.mpi.base.call_site import is_ours, place_of, program_frame
from fakempi.mpi.base.frames import current_frames
from fakempi.mpi.base.process import Universe

LIMIT = 10.0
"""Seconds after which the loop is reported."""

PAUSE = 0.25
"""Seconds between two observations."""

LOOKS, LINES = 20, 3
"""The minimum number of observations of the rank, and the maximum number of lines in which it was seen."""


class BusyWaiting:
    """Observes the running rank; reports once."""

    def __init__(self) -> None:
        self.seen: Any = None
        self.since = 0.0
        self.places: set[tuple[Any, int]] = set()  # code and line of the program
        self.steps: set[tuple[Any, int]] = set()  # code and instruction, also in libraries
        self.looks = 0
        self.reported = False

    def observe(self, universe: Universe, elapsed: float) -> str:
        """Return the report when it is due; `elapsed` is in seconds since the start of the run."""
        loop = universe.loop
        task: Any = loop.running
        if task is None or self.reported or len(loop.tasks) < 2:
            self.seen = None
            return ""
        seen = task, loop.now, loop.due_index, loop.dropped, universe.network.out[task.owner.number].sent
        if seen != self.seen:
            self.seen, self.since, self.looks = seen, elapsed, 0
            self.places.clear()
            self.steps.clear()
            return ""
        frame = loop.backend.frames([task]).get(task) or current_frames().get(universe.driver)
        program = program_frame(frame)
        if frame is None or program is None or _is_in_a_call(frame, program):
            self.seen = None
            return ""
        self.looks += 1
        self.places.add((program.f_code, program.f_lineno))
        self.steps.add((frame.f_code, frame.f_lasti))
        one_function = len({code for code, _ in self.places}) == 1 and len(self.places) <= LINES
        if elapsed - self.since < LIMIT or self.looks < LOOKS or not one_function:
            return ""
        if len(self.steps) == 1 and not (frame is program and _ends_a_while_loop(frame)):
            return ""
        self.reported = True
        return (
            f"fakempi: {task.owner.name} has run for {elapsed - self.since:.0f} s without a call that lets other ranks run, "
            f"at {place_of(program)}. fakempi runs one rank at a time: if this loop waits for another rank, for example for "
            "a flag in shared memory or for a file, it never ends. A call in the loop lets others run: win.Sync(), "
            "comm.Iprobe() or, in scripts, time.sleep(0.001)."
        )


def _ends_a_while_loop(frame: FrameType) -> bool:
    """Return whether the frame is at the jump back of a `while` loop.

    Since Python 3.11 another thread can observe a frame only at calls and at such jumps. The loop `while flag[0] == 0: pass`
    with a numpy array is therefore always observed at one instruction. A `for` loop ends, so it does not count.
    """
    instructions = {one.offset: one for one in dis.get_instructions(frame.f_code)}
    jump = instructions.get(frame.f_lasti)
    if jump is None or "JUMP" not in jump.opname or jump.argval not in instructions:
        return False
    return bool(jump.argval < jump.offset and instructions[jump.argval].opname != "FOR_ITER")


def _is_in_a_call(frame: FrameType, program: FrameType) -> bool:
    """Return whether the program is in a call of fakempi, which may take time; an access to a buffer does not count."""
    while frame is not program and frame.f_back is not None:
        if is_ours(frame) and not frame.f_globals["__name__"].startswith("fakempi.mpi.buffers."):
            return True
        frame = frame.f_back
    return False
