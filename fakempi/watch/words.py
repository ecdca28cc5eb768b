"""How far a run is, and where its ranks are, in words."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fakempi.errors import RunTimeout
from fakempi.mpi.base.complain import program_frame, site_of
from fakempi.mpi.base.frames import current_frames
from fakempi.mpi.base.process import Universe
from fakempi.mpi.evidence.waits import whereabouts
from fakempi.view.numbers import seconds

LONG = 2.0
"""Seconds with the baton that are worth a word."""

TRIES = 3
"""Looks at ranks that go on meanwhile, which may be seen in the middle of something."""


def have_ended(count: int, there: int) -> str:
    """So many ranks, of so many."""
    return f"{count:,} of {there:,} ranks {'has' if count == 1 else 'have'} ended"


def ended(universe: Universe) -> str:
    """How many ranks have ended, of all that there are, spawned ones among them."""
    tasks, there = universe.loop.tasks, list(universe.processes)
    return have_ended(sum(one.task is not None and one.task.number not in tasks for one in there), len(there))


def how_far(universe: Universe) -> str:
    """Modelled time, messages, ranks that have ended."""
    untold = 0 if universe.paper is None else universe.paper.untold
    messages = sum(port.sent for port in universe.wire.out) + untold
    return f"t = {seconds(universe.loop.now)}, {messages:,} messages, {ended(universe)}"


class Baton:
    """Who has had the baton at every look since when: it computes, or is in a call that others cannot wait for."""

    def __init__(self) -> None:
        self.seen: Any = None
        self.since = 0.0

    def look(self, universe: Universe, elapsed: float) -> str:
        """In words, if it is worth a word; `elapsed` are seconds since the run has begun."""
        loop = universe.loop
        task: Any = loop.running
        seen = task, loop.now, loop.taken, loop.cut_off
        if seen != self.seen:
            self.seen, self.since = seen, elapsed
        if task is None or elapsed - self.since < LONG:
            return ""
        frame = loop.carrier.frames([task]).get(task) or current_frames().get(universe.driver)
        thread = f", thread {task.handle.name!r}" if task.owner.started(task) else ""
        site = site_of(program_frame(frame))
        return f"; {task.owner.name}{thread} has run for {elapsed - self.since:.0f} s, now at {site}"


def took_too_long(universe: Universe, timeout: float, frame: Any, what: str) -> RunTimeout:
    """The error to raise. `frame` is where the running rank is, if it runs in a thread that others share.

    `what` takes too long, if it is not the run as a whole.
    """
    places = ["where ranks were could not be seen: they were too fast"]
    for _ in range(TRIES):
        with suppress(Exception):
            places = whereabouts(universe, frame)
            break
    now = universe.loop.now
    head = f"{what and f'{what}: '}not done after {timeout:g} s, at t = {float(now):.6g} s: {ended(universe)}."
    error = RunTimeout("\n  ".join([head, *places]))
    error.timeout, error.time, error.places = timeout, now, places
    return error
