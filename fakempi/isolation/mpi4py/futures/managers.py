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
from fakempi.isolation.mpi4py.futures.rank_data import rank_data
from fakempi.isolation.mpi4py.futures.startup import dismiss_workers, start_workers
from fakempi.isolation.mpi4py.futures.tasks import TASK_ERRORS
from fakempi.isolation.mpi4py.futures.threads import ThreadWorkers
from fakempi.isolation.mpi4py.futures.worker_group import WorkerGroup

SERVER = "mpi4py.futures.server"
"""The module that a spawned worker runs."""


def worker_pool(executor: Any) -> WorkerPool:
    """Return a pool of the shared workers, if there are any; otherwise, return a pool of spawned processes."""
    shared = rank_data().shared
    pool: WorkerPool = spawn_pool(executor) if shared is None else shared(executor)
    return pool


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
