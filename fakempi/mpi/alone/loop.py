"""The loop of a world of one: the program is not a task that was started, but whoever calls.

Nobody else is there to be handed the baton. What is booked is done while the program waits; if it still has to wait then,
nothing can ever happen again. So no carrier is needed, and a program with a world of one has no greenlets and no threads.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from fakempi.error_classes import ERR_COMM
from fakempi.errors import DeadlockError
from fakempi.kernel.loop import Loop
from fakempi.kernel.task import Task
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.current import alone, here
from fakempi.wire.envelope import Envelope, Pattern

PATIENCE = 100_000
"""Polls in vain, with no message between them, that count as a livelock: seconds of real time. It is more than in a run,
for here a program may poll between pieces of real work, and what it looks for need never come."""


class Caller:
    """In place of a carrier: the one task that may wait stands where it is called from."""

    def frames(self, tasks: list[Task]) -> dict[Task, Any]:
        """Where it stands."""
        return dict.fromkeys(tasks, sys._getframe())


class AloneLoop(Loop):
    """Virtual time for one task, which is the calling thread's."""

    def __init__(self, diagnose: Callable[[], DeadlockError], progress: Callable[[], Any]) -> None:
        super().__init__(Caller())  # type: ignore[arg-type]  # which is never asked to carry anything
        self.diagnose = diagnose
        self.progress = progress  # something that changes with every message
        self.polled: Any = None
        self.polls = 0

    @property
    def running(self) -> Task | None:
        """The program, or what it has started in the background; refused to the ranks of a run and to their threads."""
        if here.loop is not None:
            words = "this is of the world of one, outside the run: no rank can use it. Let each rank make its own."
            raise complaint(ERR_COMM, words)
        alone()
        task: Task | None = self.__dict__["running"]
        return task

    @running.setter
    def running(self, task: Task | None) -> None:
        self.__dict__["running"] = task

    def spawn(self, body: Callable[[], None], owner: Any = None, prepare: Any = None) -> Task:
        """Work in the background is done at once: alone, a collective call waits for nobody."""
        me, self.spawned = self.running, self.spawned + 1
        task = self.tasks[self.spawned] = self.running = Task(self, self.spawned, body, owner)
        try:
            body()
        finally:
            self.running = me
            del self.tasks[task.number]
        return task

    def wait(self) -> None:
        """Do what is booked; if that does not wake the program, nothing will."""
        me: Any = self.running
        try:
            woken = self.next() is me
        finally:
            self.running = me
        if not woken:
            self._give_up(me)

    def poll(self) -> None:
        """As ever, but with more patience."""
        me, seen = self.running, (self.now, self.progress())
        self.polls = self.polls + 1 if seen == self.polled else 0
        self.polled = seen
        if self.polls == PATIENCE and sys.getprofile() is None:  # one look at what it calls until the next time
            sys.setprofile(self._called)
        if self.polls > PATIENCE:
            self._stop_listening()
            self.polls, self.starved, self.pollers = 0, True, [me]  # type: ignore[list-item]
            self._give_up(me)
        if self.times:  # something ends later: let time move
            self.book(self.times[0], me)
            self.wait()

    def _called(self, frame: Any, event: str, function: Any) -> None:
        from fakempi.mpi.evidence.polling import looks_outside  # not before it is needed

        if event == "c_call" and looks_outside(frame, function):
            self.polls = 0  # it waits for something that is not ours, such as the real clock
            self._stop_listening()

    def _stop_listening(self) -> None:
        if sys.getprofile() == self._called:
            sys.setprofile(None)

    def _give_up(self, me: Any) -> None:
        """Say why it cannot go on, and take back what it waits for: the program may go on with something else."""
        try:
            error = self.diagnose()
        finally:
            polled, self.starved, self.pollers = self.starved, False, []
            reason, me.reason = me.reason, None
            for operation in reason if isinstance(reason, tuple) else (reason,):
                if getattr(operation, "end", self) is None and not polled:
                    operation.waiter = None
                    if isinstance(operation, (Envelope, Pattern)):
                        operation.box.withdraw(operation)
        raise error


def advice() -> str:
    """What to tell a program that waits alone."""
    lines = ["  outside a run the world is this one process: more ranks come with fakempi.run(main, n) or fakempi run -n N."]
    if threading.active_count() > 1:
        lines.append("  another thread cannot help: one at a time calls MPI here (MPI.THREAD_SERIALIZED).")
    return "\n".join(lines)
