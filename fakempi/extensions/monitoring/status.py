"""Progress of a run, and the positions of its ranks, as text."""

from __future__ import annotations

from contextlib import suppress
from types import FrameType
from typing import Any

from fakempi.core.kernel.agenda import Time
from fakempi.core.kernel.task import Task
from fakempi.errors import RunTimeoutError
from fakempi.mpi.base.call_site import place_of, program_frame
from fakempi.mpi.base.frames import current_frames
from fakempi.mpi.base.process import Universe
from fakempi.mpi.diagnostics.waits import rank_positions
from fakempi.view.numbers import seconds

LONG = 2.0
"""Seconds after which the progress line names a rank that runs without a switch to another rank."""

TRIES = 3
"""Attempts to find the positions of ranks: they run meanwhile, and may be seen in an inconsistent state."""


def ended_ranks(count: int, total: int) -> str:
    """Return `3 of 8 ranks have ended`."""
    return f"{count:,} of {total:,} {'rank' if total == 1 else 'ranks'} {'has' if 1 in (count, total) else 'have'} ended"


def ended(universe: Universe) -> str:
    """Return how many ranks have ended, of all that exist, including spawned ones."""
    tasks, processes = universe.loop.tasks, list(universe.processes)
    count = sum(process.task is not None and process.task.number not in tasks for process in processes)
    return ended_ranks(count, len(processes))


def progress(universe: Universe) -> str:
    """Return the modeled time, the number of messages, and how many ranks have ended."""
    messages = sum(port.sent for port in universe.network.out)
    return f"t = {seconds(universe.loop.now)}, {messages:,} {'message' if messages == 1 else 'messages'}, {ended(universe)}"


class RunningRank:
    """The rank that was running in all recent observations: it computes, or is in a call that blocks the thread."""

    def __init__(self) -> None:
        self.seen: tuple[Task | None, Time, int, int] | None = None
        self.since = 0.0

    def observe(self, universe: Universe, elapsed: float) -> str:
        """Return a text if one rank has run for `LONG` seconds; `elapsed` is in seconds since the start of the run."""
        loop = universe.loop
        task: Any = loop.running
        seen = task, loop.now, loop.due_index, loop.dropped
        if seen != self.seen:
            self.seen, self.since = seen, elapsed
        if task is None or elapsed - self.since < LONG:
            return ""
        frame = loop.backend.frames([task]).get(task) or current_frames().get(universe.driver)
        thread = f", thread {task.handle.name!r}" if task.owner.started(task) else ""
        place = place_of(program_frame(frame))
        return f"; {task.owner.name}{thread} has run for {elapsed - self.since:.0f} s, now at {place}"


def timeout_error(universe: Universe, timeout: float, frame: FrameType | None, part: str) -> RunTimeoutError:
    """Return the error to raise. `frame` is the frame of the running rank, if ranks share one thread (greenlets).

    `part` is the part of the run that takes too long; empty for the whole run.
    """
    places = ["the positions of ranks could not be determined: they changed too quickly"]
    for _ in range(TRIES):
        with suppress(Exception):
            places = rank_positions(universe, frame)
            places += [text for remark in universe.remarks if (text := remark())]
            break
    now = universe.loop.now
    head = f"{part and f'{part}: '}not done after {timeout:g} s, at t = {float(now):.6g} s: {ended(universe)}."
    error = RunTimeoutError("\n  ".join([head, *places]))
    error.timeout, error.time, error.places = timeout, now, places
    return error
