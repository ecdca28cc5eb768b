"""A task: one thread of control in virtual time, and what it is waiting for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.kernel.agenda import Agenda, Time


class Task:
    """A function that runs until it waits, and goes on when it is woken.

    It may wait for several things, and is booked once: `awaited` counts those of unknown end, `until` is the latest end.
    """

    __slots__ = (
        "acts_for", "agenda", "awaited", "body", "clock", "handle", "number", "owner", "polled_at", "reason", "refusals",
        "rest", "resume", "since", "until",
    )  # fmt: skip


    resume: Callable[[], Any]  # hand it the baton
    rest: Any  # what it calls after it has handed the baton on, to wait until it is back; None if that is done by then

    def __init__(self, agenda: Agenda, number: int, body: Callable[[], None], owner: Any) -> None:
        self.agenda, self.number, self.body, self.owner = agenda, number, body, owner
        self.acts_for: Any = owner  # in whose name it calls, until the owner takes that back
        self.handle: Any = None  # what the carrier runs it on; None until it has started
        self.reason: Any = None  # what it waits for, for whoever asks why nothing moves
        self.clock: Time = 0  # set when it ends
        self.polled_at: Time | None = None
        self.awaited = self.refusals = 0  # the latter: how often it was told to end and went on
        self.until: Time = 0
        self.since: Time = 0  # when it began to wait for what it waits for

    def settled(self, end: Time) -> None:
        """One of the awaited things will have happened at `end`."""
        if end > self.until:
            self.until = end
        self.awaited -= 1
        if not self.awaited:
            self.agenda.book(self.until, self)
