"""The lock of one rank's part of a window: holders and queue. Locks are granted in the order of requests."""

from __future__ import annotations

from collections import deque
from typing import Any

from fakempi.mpi.windows.operations import Signal


class TargetLock:
    """The lock of a part. Requests and replies travel on the channels between the ranks."""

    __slots__ = ("exclusive", "holders", "part", "queue")

    def __init__(self, part: Any) -> None:
        self.part = part
        self.holders: dict[int, Any] = {}  # by the origin's rank
        self.exclusive = False
        self.queue: deque[Any] = deque()

    def request(self, grant: Any) -> None:
        """Queue a request for the lock."""
        fault_state = self.part.window.context.fault_state
        if fault_state is None or grant.channel.sender.process.number not in fault_state.failed:
            self.queue.append(grant)
            self._serve()

    def release(self, origin: int) -> None:
        """Release the lock of a rank, and grant it to the next."""
        self.holders.pop(origin, None)
        self._serve()

    def on_failure(self, origin: int) -> None:
        """Release the lock of a dead rank. If it held the lock, queued requests fail: its operations may be partial."""
        self.queue = deque(grant for grant in self.queue if grant.channel.sender.rank != origin)
        if origin in self.holders:
            waiting, self.queue = self.queue, deque()
            dead = self.holders[origin].channel.sender
            for grant in waiting:
                grant.fail(dead)
        self.release(origin)

    def _serve(self) -> None:
        choices = self.part.process.universe.choices
        if choices is not None:
            choices.update_window_lock(self)
            return
        while self.queue and not (self.holders and (self.exclusive or self.queue[0].exclusive)):
            self.grant_lock(self.queue[0])

    def grant_lock(self, grant: Any) -> None:
        """Grant the lock to a request in the queue."""
        self.queue.remove(grant)
        self.exclusive = grant.exclusive
        if self.part.process.buffer_checks is not None:
            self.part.process.buffer_checks.checks.granted(grant.exclusive)
        self.holders[grant.channel.sender.rank] = grant
        self.part.channel(grant.channel.sender.rank).send(Signal(self.part, grant.open, grant, grant), 0)
