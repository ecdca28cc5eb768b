"""The pool of an executor: a queue of tasks and a manager thread."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from concurrent.futures.thread import _threads_queues
from typing import Any

from fakempi.errors import text_of
from fakempi.isolation.mpi4py.futures.rank_data import check_threads, rank_data
from fakempi.isolation.mpi4py.futures.tasks import TASK_ERRORS, TaskQueue


class WorkerPool:
    """A pool, started with the first task. It ends on request or when the executor is garbage collected.

    Attributes
    ----------
    size : number of workers, None until known
    event : set once the size is known, or if there are no workers
    queue : tasks to execute
    thread : the manager thread
    """

    def __init__(
        self,
        executor: Any,
        manage: Callable[[WorkerPool, dict[str, Any]], None],
        condition: threading.Condition | None = None,
    ) -> None:
        check_threads()
        self.size: int | None = None
        self.event = threading.Event()
        self.queue = queue = TaskQueue(condition)
        self.executor = weakref.ref(executor, lambda _: queue.put(None))
        self.manage, self.options = manage, dict(executor._options)
        self.thread = threading.Thread(target=self._run, args=(self.executor,), name="mpi4py.futures manager", daemon=False)
        rank_data().pools.add(self)
        self.thread.start()
        # At the exit of Python or of a rank, concurrent.futures puts None into the queues of active pools and joins their
        # threads. Register this pool as one of them.
        _threads_queues[self.thread] = self.queue  # type: ignore[index]  # typeshed declares a Mapping; it is a WeakKeyDictionary

    def _run(self, executor: Any) -> None:
        """Run the manager thread; concurrent.futures expects a reference to the executor as first argument."""
        try:
            self.manage(self, self.options)
        except TASK_ERRORS as error:
            self.set_broken(f"{type(error).__name__}: {text_of(error)}", error)

    def setup(self, size: int) -> None:
        """Report that the workers are ready."""
        self.size = size
        self.event.set()

    def wait(self) -> None:
        """Wait until the workers are ready, or have failed to start."""
        self.event.wait()

    def done(self) -> None:
        """End the queue: there are no more tasks."""
        self.queue.put(None)

    def join(self) -> None:
        """Wait for the manager thread."""
        self.thread.join()

    def cancel(self) -> None:
        """Cancel the tasks that have not started."""
        for task in self.queue.clear():
            task.future.cancel()
            task.start()

    def set_broken(self, message: str, cause: BaseException | None = None) -> None:
        """Mark the executor as broken and fail its pending tasks."""
        executor = self.executor()
        with executor._lock if executor is not None else threading.Lock():
            if executor is not None:
                executor._broken = message
            tasks = self.queue.clear()
        for task in tasks:
            if task.start():
                error = BrokenExecutor(message)
                error.__cause__ = cause
                task.future.set_exception(error)
        self.event.set()


def end_pools() -> None:
    """Finish the pending tasks and end all pools of the rank, also those without a shutdown."""
    pools = list(rank_data().pools)
    for pool in pools:
        pool.done()
    for pool in pools:
        pool.join()
