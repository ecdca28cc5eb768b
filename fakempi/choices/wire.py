"""The delivery and the loop of a run that is steered."""

from __future__ import annotations

from functools import partial
from typing import Any

from fakempi.kernel.loop import Carrier, Loop
from fakempi.kernel.task import Task
from fakempi.wire.delivery import Delivery
from fakempi.wire.envelope import Envelope, Pattern


class OpenDelivery(Delivery):
    """Tells the choices what is sent and awaited. Ends are known a little later, when their task waits, so it shows who
    learns of what."""

    calls_to_send = 2
    choices: Any

    def send(self, envelope: Envelope) -> None:
        """A message is sent now."""
        self.choices.sent(envelope)
        super().send(envelope)

    def expect(self, pattern: Pattern) -> None:
        """A message is awaited from now on."""
        self.choices.awaited(pattern)
        super().expect(pattern)

    def _settle(self, item: Any, end: Any) -> None:  # type: ignore[override]
        self.clock.book(self.clock.now, partial(super()._settle, item, end))


class OpenLoop(Loop):
    """When nothing can run, a choice is made. Tasks that go on have learned of what they waited for."""

    def __init__(self, carrier: Carrier, choices: Any) -> None:
        super().__init__(carrier)
        self.choices = choices

    def spawn(self, body: Any, owner: Any = None, prepare: Any = None) -> Task:
        """As ever, and the choices are told."""
        task = super().spawn(body, owner, prepare)
        self.choices.born(task, self.running)
        return task

    def wait(self) -> None:
        """Stop the running task until somebody wakes it; then it knows what that one knew."""
        me: Any = self.running
        teachers = self.choices.teachers(me.reason)
        super().wait()
        self.choices.learn(me, teachers)

    def poll(self) -> None:
        """As ever. What the task finds then hangs on who else was served, and nobody keeps account of that."""
        self.choices.not_told("polling that is no test of MPI's")
        super().poll()

    def next(self) -> Task | None:
        """Do what is due; if nothing is, have something chosen."""
        while True:
            task = super().next()
            if task is not None or self.ending or self.starved or not self.choices.choose():
                return task

    def _time_moves(self) -> bool:
        """Those who poll, but not for MPI, come back when a choice has been made."""
        if self.times or not self.idle_rounds or not self.choices.choose():
            return super()._time_moves()
        self.idle_rounds = 0
        for task in self.pollers:
            self.book(self.now, task)
        self.pollers.clear()
        return not self.ending
