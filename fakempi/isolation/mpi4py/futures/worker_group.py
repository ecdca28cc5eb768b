"""Workers in the remote group of an intercommunicator, as seen from their master.

Each manager thread waits in `serve` for a task and an idle worker, and sends the task. One thread receives the results. It
only waits for a message while a task is running, and no thread polls, so a deadlock is detected.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from fakempi import MPI
from fakempi.isolation.mpi4py.futures.tasks import TASK_ERRORS, SubmittedTask, TaskQueue


class WorkerGroup:
    """A group of workers. Several threads may call `serve` concurrently, each with a different queue.

    Attributes
    ----------
    condition : protects the following attributes and the queues
    idle : ranks of idle workers, in the order in which they became idle
    running : by rank of a busy worker, its task and the queue of the task
    waiting_for_all : number of threads that wait until all workers are idle; while it is not 0, no task is sent
    """

    def __init__(self, channel: Any, size: int, condition: threading.Condition) -> None:
        self.channel, self.size, self.condition = channel, size, condition
        self.idle = deque(range(size))
        self.running: dict[int, tuple[SubmittedTask, TaskQueue | None]] = {}
        self.waiting_for_all = 0
        self.stopped = False
        self.receiver = threading.Thread(target=self._receive, name="mpi4py.futures receiver", daemon=True)
        self.receiver.start()

    def serve(self, queue: TaskQueue) -> None:
        """Execute the tasks of a queue on workers, until the queue returns None."""
        while True:
            with self.condition:
                self.condition.wait_for(lambda: self._can_continue(queue))
                task = queue.pop()
                if task is None:
                    break
                worker = self.idle.popleft()
            self._send_task(worker, task, queue)
            del task
        with self.condition:
            self.condition.wait_for(lambda: all(other is not queue for _, other in self.running.values()))

    def _can_continue(self, queue: TaskQueue) -> bool:
        """Return whether the next task of a queue can be sent, or the queue has ended."""
        if not queue.items:
            return False
        return queue.items[0] is None or (bool(self.idle) and not self.waiting_for_all)

    def call_on_all(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Call a function on every worker concurrently; raise the exception of the first worker that fails."""
        with self.condition:
            self.waiting_for_all += 1
            self.condition.wait_for(lambda: len(self.idle) == self.size)
            self.waiting_for_all -= 1
            workers = sorted(self.idle)
            self.idle.clear()
        calls = [SubmittedTask(Future(), function, args, kwargs) for _ in workers]
        for worker, call in zip(workers, calls, strict=True):
            self._send_task(worker, call, None)
        errors = [call.future.exception() for call in calls]  # wait for all workers
        for error in errors:
            if error is not None:
                raise error

    def stop(self) -> None:
        """Stop all workers, which must be idle."""
        with self.condition:
            self.stopped = True
            self.condition.notify_all()
        self.receiver.join()
        for worker in range(self.size):
            self.channel.send(None, worker)
        self.channel.Disconnect()

    def _send_task(self, worker: int, task: SubmittedTask, queue: TaskQueue | None) -> None:
        sent = False
        if task.start():
            try:
                self.channel.send(task[1:], worker)
                sent = True
            except TASK_ERRORS as error:  # pickling failed
                task.future.set_exception(error)
        with self.condition:
            if sent:
                self.running[worker] = task, queue
            else:
                self.idle.append(worker)
            self.condition.notify_all()

    def _receive(self) -> None:
        """Receive results while tasks are running."""
        status = MPI.Status()
        while True:
            with self.condition:
                self.condition.wait_for(lambda: self.running or self.stopped)
                if not self.running:
                    return
            self._receive_result(status)

    def _receive_result(self, status: MPI.Status) -> None:
        try:
            result, error = self.channel.recv(status=status)
        except TASK_ERRORS as failure:  # unpickling failed
            result, error = None, failure
        worker = status.Get_source()
        with self.condition:
            self.condition.wait_for(lambda: worker in self.running)  # `_send_task` may not have recorded it yet
            future = self.running[worker][0].future
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
        with self.condition:
            del self.running[worker]
            self.idle.append(worker)
            self.condition.notify_all()
