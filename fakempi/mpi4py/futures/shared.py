"""`-m mpi4py.futures`: one rank runs the program, and all others are the workers of whatever executors it makes."""

from __future__ import annotations

import threading
from typing import Any

from fakempi import MPI
from fakempi.mpi4py.futures.crew import Crew
from fakempi.mpi4py.futures.greeting import dismiss, greet
from fakempi.mpi4py.futures.managers import manage_crew, thread_pool
from fakempi.mpi4py.futures.own import own
from fakempi.mpi4py.futures.pools import Pool, end_pools
from fakempi.mpi4py.futures.split import comm_split
from fakempi.mpi4py.futures.worker import serve


class SharedPool:
    """A context that all ranks enter: rank 0 gets this and has workers; the others get None, and work when they leave it."""

    def __enter__(self) -> SharedPool | None:
        self.comm, self.workers = comm_split(MPI.COMM_WORLD, 0)
        self.master = MPI.COMM_WORLD.Get_rank() == 0
        self.changed = threading.Condition()
        self.starting = threading.Lock()
        self.crew: Crew | None = None
        own().shared = self
        return self if self.master else None

    def __call__(self, executor: Any) -> Pool:
        """What an executor starts. On a worker, and where there is none, that is a thread."""
        if not self.master or self.comm == MPI.COMM_NULL:
            return thread_pool(executor, MPI.COMM_SELF)
        return Pool(executor, self._manage, self.changed)

    def _manage(self, pool: Pool, options: dict[str, Any]) -> None:
        manage_crew(pool, options, self._started(options))

    def _started(self, options: dict[str, Any]) -> Crew:
        """The workers, greeted by the first who needs them."""
        with self.starting:
            if self.crew is None:
                self.crew = Crew(greet(self.comm, options), self.comm.Get_remote_size(), self.changed)
            return self.crew

    def __exit__(self, *failure: object) -> None:
        if self.master:
            end_pools()
            if self.crew is not None:
                self.crew.stop()
            elif self.comm != MPI.COMM_NULL:
                dismiss(self.comm)
        else:
            serve(self.comm, self.workers)
            end_pools()
            self.workers.Free()
        own().shared = None
