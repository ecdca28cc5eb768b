"""Workers on the other side of an intercommunicator, as their master sees them: who is idle, and who is at what.

Whoever has tasks waits in `serve` for one and for an idle worker, and sends it. One thread receives what comes back. It
waits for a message only while a task is under way, and nobody looks again and again: what cannot go on is a deadlock.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from fakempi import MPI
from fakempi.mpi4py.futures.tasks import CAUGHT, Task, TaskQueue


class Crew:
    """Workers. Several threads may serve them at once, each from a queue of its own.

    Attributes
    ----------
    changed : the condition under which all of the following changes; that of the queues, too
    idle : ranks of workers that have nothing to do, in the order in which they became idle
    running : of the others, what they do, and from which queue it came
    gathering : how many wait for all workers to be idle; meanwhile nobody gets a task
    """

    def __init__(self, line: Any, size: int, changed: threading.Condition) -> None:
        self.line, self.size, self.changed = line, size, changed
        self.idle = deque(range(size))
        self.running: dict[int, tuple[Task, TaskQueue | None]] = {}
        self.gathering = 0
        self.stopped = False
        self.receiver = threading.Thread(target=self._receive, name="mpi4py.futures receiver", daemon=True)
        self.receiver.start()

    def serve(self, queue: TaskQueue) -> None:
        """Have all tasks of a queue done, until there is a None in it."""
        while True:
            with self.changed:
                self.changed.wait_for(lambda: queue.items and (queue.items[0] is None or (self.idle and not self.gathering)))
                task = queue.pop()
                if task is None:
                    break
                worker = self.idle.popleft()
            self._give(worker, task, queue)
            del task
        with self.changed:
            self.changed.wait_for(lambda: all(one is not queue for _, one in self.running.values()))

    def everyone(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Have a call made by every worker, all at once. Raises what the first of them raises that fails."""
        with self.changed:
            self.gathering += 1
            self.changed.wait_for(lambda: len(self.idle) == self.size)
            self.gathering -= 1
            workers = sorted(self.idle)
            self.idle.clear()
        calls = [Task(Future(), function, args, kwargs) for _ in workers]
        for worker, call in zip(workers, calls, strict=True):
            self._give(worker, call, None)
        errors = [call.future.exception() for call in calls]  # of all: none is to be at it when this returns
        for error in errors:
            if error is not None:
                raise error

    def stop(self) -> None:
        """Send everybody home, when nobody is at anything."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()
        self.receiver.join()
        for worker in range(self.size):
            self.line.send(None, worker)
        self.line.Disconnect()

    def _give(self, worker: int, task: Task, queue: TaskQueue | None) -> None:
        sent = False
        if task.begins():
            try:
                self.line.send(task[1:], worker)
                sent = True
            except CAUGHT as error:  # it cannot be pickled
                task.future.set_exception(error)
        with self.changed:
            if sent:
                self.running[worker] = task, queue
            else:
                self.idle.append(worker)
            self.changed.notify_all()

    def _receive(self) -> None:
        """Take what comes back, as long as something is to come."""
        status = MPI.Status()
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.running or self.stopped)
                if not self.running:
                    return
            self._take(status)

    def _take(self, status: MPI.Status) -> None:
        try:
            result, error = self.line.recv(status=status)
        except CAUGHT as failure:  # it cannot be unpickled
            result, error = None, failure
        worker = status.Get_source()
        with self.changed:
            self.changed.wait_for(lambda: worker in self.running)  # whoever has sent it may not have come to say so
            future = self.running[worker][0].future
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
        with self.changed:
            del self.running[worker]
            self.idle.append(worker)
            self.changed.notify_all()
