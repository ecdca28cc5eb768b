"""The delivery of messages and the event loop of a steered run, in which explicit choices decide the order of events."""

from __future__ import annotations

from functools import partial
from typing import Any

from fakempi.core.kernel.loop import Backend, Loop
from fakempi.core.kernel.task import Task
from fakempi.core.network.delivery import Delivery
from fakempi.core.network.envelope import Envelope, PostedReceive


class OpenDelivery(Delivery):
    """The network of a steered run: reports sends and receives to `choices`.

    A matched operation completes only when the running task waits the next time, not during the call that matches it. So
    a task has to wait before it can use the result, and `Causality.learn` then records that the task knows of the match.
    """

    choices: Any

    def send(self, envelope: Envelope) -> None:
        """Report a message to the choices, and send it."""
        self.choices.sent(envelope)
        super().send(envelope)

    def post_receive(self, receive: PostedReceive) -> None:
        """Report a receive to the choices, and post it."""
        self.choices.awaited(receive)
        super().post_receive(receive)

    def _settle(self, item: Any, end: Any) -> None:  # type: ignore[override]  # a static function in the base class
        self.clock.call_at(self.clock.now, partial(super()._settle, item, end))


class OpenLoop(Loop):
    """A loop that makes a choice when no task can run, and records which choices a task knows of when it continues."""

    def __init__(self, backend: Backend, choices: Any) -> None:
        super().__init__(backend)
        self.choices = choices

    def spawn(self, body: Any, owner: Any = None, prepare: Any = None) -> Task:
        """Start a task, and report it to the choices."""
        task = super().spawn(body, owner, prepare)
        self.choices.task_started(task, self.running)
        return task

    def wait(self) -> None:
        """Suspend the running task until it is woken; then record the choices of which the task has learned by waiting."""
        task: Any = self.running
        knowledge_sources = self.choices.knowledge_sources(task.reason)
        super().wait()
        self.choices.learn(task, knowledge_sources)

    def poll(self) -> None:
        """Poll outside MPI. The result may depend on the order in which other tasks ran; this dependence is not tracked."""
        self.choices.untracked("polling outside MPI")
        super().poll()

    def next(self) -> Task | None:
        """Return the next task of the agenda; if the agenda is empty, make a choice and try again."""
        while True:
            task = super().next()
            if task is not None or self.ending or self.starved or not self.choices.choose():
                return task

    def _book_pollers(self) -> bool:
        """If all tasks that can run poll outside MPI without effect, make a choice and let these tasks poll again."""
        if self.times or not self.idle_rounds or not self.choices.choose():
            return super()._book_pollers()
        self.idle_rounds = 0
        for task in self.pollers:
            self.run_at(self.now, task)
        self.pollers.clear()
        return not self.ending
