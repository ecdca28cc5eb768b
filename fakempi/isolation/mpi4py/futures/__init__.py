"""`mpi4py.futures`: executors whose workers are MPI processes.

executor    `MPIPoolExecutor` and its variants with threads or spawned processes as workers
comm_executor    `MPICommExecutor`: workers are the other ranks of a communicator
mapping    `map` and `starmap`
pools    the queue and the manager thread of an executor
managers    functions of the manager thread, by kind of workers
worker_group    workers as seen from their master
threads    workers that are threads of the rank
shared    workers shared by all executors, under `-m mpi4py.futures`
startup    the first message to workers
main_program    the main program on workers
worker    the loop of a worker
server    the program of a spawned worker
tasks    a task with its future; the task queue
serialized_comm    MPI calls under a lock, one thread at a time
remote_errors    exceptions sent by workers
split    splits a communicator into master and workers
rank_data    data of each rank
settings    keyword arguments and environment variables
util    `collect` and `compose`
aplus    futures with `then` and `catch`
_core    names of mpi4py's module of this name
__main__    `-m mpi4py.futures`
"""

from __future__ import annotations

from concurrent.futures import (
    ALL_COMPLETED,
    FIRST_COMPLETED,
    FIRST_EXCEPTION,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    InvalidStateError,
    TimeoutError,
    as_completed,
    wait,
)

from fakempi.isolation.mpi4py.futures import _core
from fakempi.isolation.mpi4py.futures.comm_executor import MPICommExecutor
from fakempi.isolation.mpi4py.futures.executor import MPIPoolExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from fakempi.isolation.mpi4py.futures.rank_data import get_comm_workers
from fakempi.isolation.mpi4py.futures.util import collect, compose

__all__ = [
    "ALL_COMPLETED", "FIRST_COMPLETED", "FIRST_EXCEPTION", "BrokenExecutor", "CancelledError", "Executor", "Future",
    "InvalidStateError", "MPICommExecutor", "MPIPoolExecutor", "ProcessPoolExecutor", "ThreadPoolExecutor", "TimeoutError",
    "as_completed", "collect", "compose", "get_comm_workers", "wait",
]  # fmt: skip
_ = _core
