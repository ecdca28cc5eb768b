"""`-m mpi4py.futures`: rank 0 runs the program, and all other ranks are the workers of its executors."""

from __future__ import annotations

import threading
from typing import Any

from fakempi import MPI
from fakempi.isolation.mpi4py.futures.managers import manage_workers, thread_pool
from fakempi.isolation.mpi4py.futures.pools import WorkerPool, end_pools
from fakempi.isolation.mpi4py.futures.rank_data import rank_data
from fakempi.isolation.mpi4py.futures.split import comm_split
from fakempi.isolation.mpi4py.futures.startup import dismiss_workers, start_workers
from fakempi.isolation.mpi4py.futures.worker import serve
from fakempi.isolation.mpi4py.futures.worker_group import WorkerGroup


class SharedPool:
    """A context that all ranks enter. Rank 0 gets the pool; the others get None, and execute tasks in `__exit__`."""

    def __enter__(self) -> SharedPool | None:
        self.comm, self.workers = comm_split(MPI.COMM_WORLD, 0)
        self.master = MPI.COMM_WORLD.Get_rank() == 0
        self.condition = threading.Condition()
        self.starting = threading.Lock()
        self.group: WorkerGroup | None = None
        rank_data().shared = self
        return self if self.master else None

    def __call__(self, executor: Any) -> WorkerPool:
        """Return a pool for an executor: of the workers on rank 0, of one thread on workers or if there are none."""
        if not self.master or self.comm == MPI.COMM_NULL:
            return thread_pool(executor, MPI.COMM_SELF)
        return WorkerPool(executor, self._manage, self.condition)

    def _manage(self, pool: WorkerPool, options: dict[str, Any]) -> None:
        manage_workers(pool, options, self._started(options))

    def _started(self, options: dict[str, Any]) -> WorkerGroup:
        """Return the workers, which the first call starts."""
        with self.starting:
            if self.group is None:
                self.group = WorkerGroup(start_workers(self.comm, options), self.comm.Get_remote_size(), self.condition)
            return self.group

    def __exit__(self, *failure: object) -> None:
        if self.master:
            end_pools()
            if self.group is not None:
                self.group.stop()
            elif self.comm != MPI.COMM_NULL:
                dismiss_workers(self.comm)
        else:
            serve(self.comm, self.workers)
            end_pools()
            self.workers.Free()
        rank_data().shared = None
