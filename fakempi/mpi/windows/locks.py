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
        trouble = self.part.window.context.trouble
        if trouble is None or permit.lane.here.process.number not in trouble.failed:
            self.queue.append(permit)
            self._serve()

    def give_back(self, origin: int) -> None:
        """A rank has done with it."""
        self.holders.pop(origin, None)
        self._serve()

    def bereave(self, origin: int) -> None:
        """A rank has died. If it had the lock, those who wait are told, what it did may be half done; then it is free."""
        self.queue = deque(permit for permit in self.queue if permit.lane.here.rank != origin)
        if origin in self.holders:
            waiting, self.queue = self.queue, deque()
            dead = self.holders[origin].lane.here
            for permit in waiting:
                permit.fail(dead)
        self.give_back(origin)

    def _serve(self) -> None:
        choices = self.part.process.universe.choices
        if choices is not None:
            choices.lock_of_window(self)
            return
        while self.queue and not (self.holders and (self.exclusive or self.queue[0].exclusive)):
            self.grant(self.queue[0])

    def grant(self, permit: Any) -> None:
        """One of those who wait gets it."""
        self.queue.remove(permit)
        self.exclusive = permit.exclusive
        self.holders[permit.lane.here.rank] = permit
        self.part.lane(permit.lane.here.rank).depart(Signal(self.part, permit.open, permit, permit), 0)
