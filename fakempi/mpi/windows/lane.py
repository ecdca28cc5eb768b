"""The way from one rank of a window to another: what is sent there arrives in the order in which it started.

An operation is the pattern of its own envelope (see `fakempi.wire.envelope`): the wire tells it, as soon as its ports are
free, when it will be there, and it is there when that time has come, whatever the target's program does.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from fakempi.wire.envelope import Envelope, new_envelope


class Lane:
    """From one part of a window to another."""

    __slots__ = ("box", "flying", "here", "there")

    def __init__(self, here: Any, there: Any, box: Any) -> None:
        self.here, self.there = here, there  # parts
        self.box = box
        self.flying: deque[Travelling] = deque()  # what has started, in that order

    def depart(self, what: Travelling, nbytes: int) -> None:
        """Let it go, now."""
        here, box = self.here, self.box
        what.lane = self
        end = here.wire.at_once(here.out, box.into, nbytes)
        if end is not None:
            what.end = end
            what.settled(end)
            return
        what.envelope = envelope = new_envelope(here.out, here.rank, 0, nbytes, box, None, True)
        if here.recorder is not None:
            envelope.posted, envelope.region, envelope.call = what.issued
            what.posted, what.call = what.awaited()
        here.wire.carry(envelope, what)

    def land(self) -> None:
        """The first of those that have started is there; a target that has died takes nothing any more."""
        first, target = self.flying.popleft(), self.there.process
        if target.number not in target.universe.dead or first.outlives:
            first.arrive()


class Travelling:
    """Something that travels on a lane and does something where it arrives."""

    __slots__ = ("call", "end", "envelope", "issued", "lane", "posted")

    lane: Lane
    envelope: Envelope | None  # if it needs one
    end: Any  # when it is there
    issued: tuple[float, int, int]  # when, in which region and in which call: for a trace
    posted: float
    call: int
    outlives: bool = False  # whether it arrives also where somebody has died meanwhile

    def __init__(self, part: Any, asked: Travelling | None = None) -> None:
        self.envelope = self.end = None
        recorder = part.recorder
        if recorder is not None:  # an answer belongs to the call that asked
            self.issued = part.loop.now, *(recorder.here() if asked is None else asked.issued[1:])

    def awaited(self) -> tuple[Any, int]:
        """Since when somebody waits for it, and in which call, for a trace: nobody does, so since now, and in none."""
        return self.lane.here.loop.now, 0

    def sending(self) -> Any:
        """What has an end when it has left its sender; None if it has not been let go."""
        return self.envelope or (None if self.end is None else self)

    @property
    def waiter(self) -> Travelling:
        """Who is told when its arrival is known: itself."""
        return self

    def settled(self, end: Any) -> None:
        """It has started, and will be there then."""
        lane = self.lane
        lane.flying.append(self)
        lane.here.loop.book(end, lane.land)

    def arrive(self) -> None:
        """It is there."""
        raise NotImplementedError
