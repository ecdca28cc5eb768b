"""A task: one thread of control in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fakempi.core.kernel.agenda import Agenda, Time


class Task:
    """A function with its own stack. It waits for `awaited` events of unknown time; `until` is the latest known time."""

    __slots__ = ("acts_for", "agenda", "await_turn", "awaited", "body", "booked", "clock", "ended_count", "handle", "number",
                 "order", "owner", "polled_at", "reason", "resume", "since", "switch", "until")  # fmt: skip

    switch: Callable[[], Any]  # the backend's function that lets this task run
    resume: Callable[[], Any]  # `switch`, with the additions of subscribers of `Loop.make_resume`
    await_turn: Any  # called after the task has resumed another one, to sleep until its turn; None on greenlets

    def __init__(self, agenda: Agenda, number: int, body: Callable[[], None], owner: Any) -> None:
        self.agenda, self.number, self.body, self.owner = agenda, number, body, owner
        self.order = number  # of tasks that were booked at one time for the same time; the layer above may change it
        self.booked: Time = 0  # when it was booked
        self.acts_for: Any = owner  # the owner for which it may call without a check; None: `Loop.check_caller` decides
        self.handle: Any = None  # its greenlet or thread; None until it has started
        self.reason: Any = None  # the reason of its wait, for reports
        self.clock: Time = 0  # set when it ends
        self.polled_at: Time | None = None
        self.awaited = self.ended_count = 0  # ended_count: how often `Ended` was raised in it
        self.until: Time = 0
        self.since: Time = 0  # when its wait began

    def settled(self, end: Time) -> None:
        """Record that one of the awaited events happens at `end`; book the task if that was the last one."""
        self.until = end if end > self.until else self.until
        self.awaited -= 1
        if not self.awaited:
            if (items := self.agenda.items_at.get(self.until)) is None:
                self.agenda.run_at(self.until, self)
            else:  # `run_at`, inlined: nearly every wait comes here
                self.booked = self.agenda.now
                items.append(self)
