"""Workers that are threads of the rank."""

from __future__ import annotations

import threading
from typing import Any

from fakempi import MPI
from fakempi.isolation.mpi4py.futures.pools import WorkerPool
from fakempi.isolation.mpi4py.futures.rank_data import as_worker
from fakempi.isolation.mpi4py.futures.tasks import TASK_ERRORS, SubmittedTask


class ThreadWorkers:
    """At most `size` threads: the manager thread, and others started while tasks are waiting."""

    def __init__(self, pool: WorkerPool, options: dict[str, Any], size: int, comm: MPI.Intracomm | None) -> None:
        self.pool, self.options, self.size, self.comm = pool, options, size, comm
        self.others: list[threading.Thread] = []

    def run(self) -> None:
        """Execute tasks in the manager thread until the queue ends."""
        self._work()
        for thread in self.others:
            thread.join()
        self.pool.queue.clear()
        self.pool.queue.pop()

    def _work(self) -> None:
        queue = self.pool.queue
        with as_worker(self.comm):
            if not self._initialized():
                return
            while (task := queue.get()) is not None:
                if queue.items and queue.items[0] is not None:
                    self._start_another()
                if task.start():
                    _execute(task)
                del task
        queue.put(None)  # for the next thread

    def _start_another(self) -> None:
        if len(self.others) < self.size - 1:
            thread = threading.Thread(target=self._work, name="mpi4py.futures worker", daemon=True)
            self.others.append(thread)
            thread.start()

    def _initialized(self) -> bool:
        initializer = self.options.get("initializer")
        try:
            if initializer is not None:
                initializer(*self.options["initargs"], **self.options.get("initkwargs", {}))
        except TASK_ERRORS as error:
            self.pool.set_broken("initializer failed", error)
            self.pool.done()
            return False
        return True


def _execute(task: SubmittedTask) -> None:
    try:
        result = task.function(*task.args, **task.kwargs)
    except TASK_ERRORS as error:
        task.future.set_exception(error)
    else:
        task.future.set_result(result)
