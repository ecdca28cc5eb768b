"""Create worker pools: of spawned processes, ranks of a communicator, threads of this rank, or shared workers."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from fakempi import MPI
from fakempi.isolation.mpi4py.futures import settings
from fakempi.isolation.mpi4py.futures.main_program import reject_nested_spawn
from fakempi.isolation.mpi4py.futures.pools import WorkerPool
from fakempi.isolation.mpi4py.futures.rank_data import as_worker, rank_data
from fakempi.isolation.mpi4py.futures.startup import dismiss_workers, start_workers
from fakempi.isolation.mpi4py.futures.tasks import TASK_ERRORS, SubmittedTask
from fakempi.isolation.mpi4py.futures.worker_group import WorkerGroup


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


SERVER = "mpi4py.futures.server"
"""The module that a spawned worker runs."""


def worker_pool(executor: Any) -> WorkerPool:
    """Return a pool of the shared workers, if there are any; otherwise, return a pool of spawned processes."""
    shared = rank_data().shared
    return spawn_pool(executor) if shared is None else shared(executor)


def spawn_pool(executor: Any) -> WorkerPool:
    """Return a pool of spawned processes."""
    reject_nested_spawn()

    def manage(pool: WorkerPool, options: dict[str, Any]) -> None:
        info = MPI.Info.Create(dict(options.get("mpi_info") or ()))
        with rank_data().lock or threading.Lock():
            comm = MPI.COMM_SELF.Spawn(sys.executable, ["-m", SERVER], settings.number_of_workers(options), info)
        info.Free()
        manage_comm(pool, options, comm)

    return WorkerPool(executor, manage)


def comm_pool(executor: Any, comm: Any) -> WorkerPool:
    """Return a pool of the remote ranks of an intercommunicator. They run the same program, so it is not sent to them."""
    return WorkerPool(executor, lambda pool, options: manage_comm(pool, options, comm, send_main=False))


def thread_pool(executor: Any, comm: MPI.Intracomm | None = None) -> WorkerPool:
    """Return a pool of threads of this rank. With a communicator, the pool has a single thread."""

    def manage(pool: WorkerPool, options: dict[str, Any]) -> None:
        size = int(options.get("max_workers", 1)) if comm is None else 1
        pool.setup(size)
        ThreadWorkers(pool, options, size, comm).run()

    return WorkerPool(executor, manage)


def manage_comm(pool: WorkerPool, options: dict[str, Any], comm: Any, send_main: bool = True) -> None:
    """Start workers on the remote ranks of `comm`, execute the tasks of a pool on them, and stop them."""
    try:
        channel = start_workers(comm, options, send_main)
    except TASK_ERRORS:
        dismiss_workers(comm)
        raise
    workers = WorkerGroup(channel, comm.Get_remote_size(), pool.queue.condition)
    manage_workers(pool, options, workers)
    workers.stop()


def manage_workers(pool: WorkerPool, options: dict[str, Any], workers: WorkerGroup) -> None:
    """Initialize started workers, and execute the tasks of a pool on them."""
    initializer: Callable[..., Any] | None = options.get("initializer")
    if initializer is not None:
        try:
            workers.call_on_all(initializer, options["initargs"], options.get("initkwargs", {}))
        except TASK_ERRORS as error:
            pool.set_broken("initializer failed", error)
            return
    pool.setup(workers.size)
    workers.serve(pool.queue)
