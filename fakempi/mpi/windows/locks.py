"""The lock of one rank's window: who has it, and who waits for it. First come, first served."""

from __future__ import annotations

from collections import deque
from typing import Any

from fakempi.mpi.windows.operations import Signal


class TargetLock:
    """The lock of a part. Permits ask for it and get it; what they ask and what they are told takes its way on the lanes."""

    __slots__ = ("exclusive", "holders", "part", "queue")

    def __init__(self, part: Any) -> None:
        self.part = part
        self.holders: dict[int, Any] = {}  # permits by their origin's rank
        self.exclusive = False
        self.queue: deque[Any] = deque()

    def ask(self, permit: Any) -> None:
        """A permit wants it."""
        self.queue.append(permit)
        self._serve()

    def give_back(self, origin: int) -> None:
        """A rank has done with it."""
        del self.holders[origin]
        self._serve()

    def _serve(self) -> Any:
        choices = self.part.process.universe.choices
        if choices is not None:
            return choices.lock_of_window(self)
        while self.queue and not (self.holders and (self.exclusive or self.queue[0].exclusive)):
            self.grant(self.queue[0])

    def grant(self, permit: Any) -> None:
        """One of those who wait gets it."""
        self.queue.remove(permit)
        self.exclusive = permit.exclusive
        self.holders[permit.lane.here.rank] = permit
        self.part.lane(permit.lane.here.rank).depart(Signal(self.part, permit.open, permit, permit), 0)
