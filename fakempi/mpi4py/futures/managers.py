"""How pools get their workers: spawned, met in a communicator, threads of the rank, or those that all executors share."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

from fakempi import MPI
from fakempi.mpi4py.futures import settings
from fakempi.mpi4py.futures.crew import Crew
from fakempi.mpi4py.futures.greeting import dismiss, greet
from fakempi.mpi4py.futures.main_program import refuse_to_recur
from fakempi.mpi4py.futures.own import own
from fakempi.mpi4py.futures.pools import Pool
from fakempi.mpi4py.futures.tasks import CAUGHT
from fakempi.mpi4py.futures.threads import Threads

SERVER = "mpi4py.futures.server"
"""What a worker runs that is spawned."""


def worker_pool(executor: Any) -> Pool:
    """The workers that all share if there are such, or spawned ones."""
    shared = own().shared
    pool: Pool = spawn_pool(executor) if shared is None else shared(executor)
    return pool


def spawn_pool(executor: Any) -> Pool:
    """New processes, by Spawn."""
    refuse_to_recur()

    def manage(pool: Pool, options: dict[str, Any]) -> None:
        info = MPI.Info.Create(dict(options.get("mpi_info") or ()))
        with own().lock or threading.Lock():
            comm = MPI.COMM_SELF.Spawn(sys.executable, ["-m", SERVER], settings.number_of_workers(options), info)
        info.Free()
        manage_comm(pool, options, comm)

    return Pool(executor, manage)


def comm_pool(executor: Any, comm: Any) -> Pool:
    """Those on the other side of an intercommunicator, which run the same program."""
    return Pool(executor, lambda pool, options: manage_comm(pool, options, comm, strangers=False))


def thread_pool(executor: Any, comm: MPI.Intracomm | None = None) -> Pool:
    """Threads of this rank; with a communicator, there is one, which is a worker."""

    def manage(pool: Pool, options: dict[str, Any]) -> None:
        size = int(options.get("max_workers", 1)) if comm is None else 1
        pool.setup(size)
        Threads(pool, options, size, comm).run()

    return Pool(executor, manage)


def manage_comm(pool: Pool, options: dict[str, Any], comm: Any, strangers: bool = True) -> None:
    """Let workers do what is in a pool's queue, and send them home."""
    try:
        line = greet(comm, options, strangers)
    except CAUGHT:
        dismiss(comm)
        raise
    crew = Crew(line, comm.Get_remote_size(), pool.queue.changed)
    manage_crew(pool, options, crew)
    crew.stop()


def manage_crew(pool: Pool, options: dict[str, Any], crew: Crew) -> None:
    """Let workers do what is in a pool's queue."""
    initializer: Callable[..., Any] | None = options.get("initializer")
    if initializer is not None:
        try:
            crew.everyone(initializer, options["initargs"], options.get("initkwargs", {}))
        except CAUGHT as error:
            pool.broken("initializer failed", error)
            return
    pool.setup(crew.size)
    crew.serve(pool.queue)
