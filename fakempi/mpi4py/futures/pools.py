"""A pool of workers, as an executor sees it: a queue of tasks, and a thread that sees to it that they are done."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from concurrent.futures.thread import _threads_queues
from typing import Any

from fakempi.mpi4py.futures.own import check_threads, own
from fakempi.mpi4py.futures.tasks import CAUGHT, TaskQueue


class Pool:
    """What an executor starts at its first task. It ends when it is told so, and also when the executor is no more.

    Attributes
    ----------
    size : how many workers there are, None as long as nobody knows
    event : set as soon as somebody knows, or if there will be none
    queue : what is to be done
    thread : who sees to it
    """

    def __init__(
        self, executor: Any, manage: Callable[[Pool, dict[str, Any]], None], changed: threading.Condition | None = None
    ) -> None:
        check_threads()
        self.size: int | None = None
        self.event = threading.Event()
        self.queue = queue = TaskQueue(changed)
        self.executor = weakref.ref(executor, lambda _: queue.put(None))
        self.manage, self.options = manage, dict(executor._options)
        self.thread = threading.Thread(target=self._run, args=(self.executor,), name="mpi4py.futures manager", daemon=False)
        own().pools.add(self)
        self.thread.start()
        # When Python ends, or a rank does, the pools of concurrent.futures that are going on find a None in their queue, and
        # their threads are waited for. This is one of them.
        _threads_queues[self.thread] = self.queue  # type: ignore[index]

    def _run(self, executor: Any) -> None:
        """What the thread does; its first argument is what such pools have there."""
        try:
            self.manage(self, self.options)
        except CAUGHT as error:
            self.broken(f"{type(error).__name__}: {error}", error)

    def setup(self, size: int) -> None:
        """Workers are there."""
        self.size = size
        self.event.set()

    def wait(self) -> None:
        """Until workers are there, or it is known that none will be."""
        self.event.wait()

    def done(self) -> None:
        """No more tasks will come."""
        self.queue.put(None)

    def join(self) -> None:
        """Wait until all is done."""
        self.thread.join()

    def cancel(self) -> None:
        """Cancel what nobody has begun with."""
        for task in self.queue.clear():
            task.future.cancel()
            task.begins()

    def broken(self, message: str, cause: BaseException | None = None) -> None:
        """There are no workers, and nobody may ask for them any more."""
        executor = self.executor()
        with executor._lock if executor is not None else threading.Lock():
            if executor is not None:
                executor._broken = message
            tasks = self.queue.clear()
        for task in tasks:
            if task.begins():
                error = BrokenExecutor(message)
                error.__cause__ = cause
                task.future.set_exception(error)
        self.event.set()


def end_pools() -> None:
    """What is pending is done; then the pools of a rank end, also those that nobody has shut down."""
    pools = list(own().pools)
    for pool in pools:
        pool.done()
    for pool in pools:
        pool.join()
