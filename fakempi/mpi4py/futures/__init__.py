"""`mpi4py.futures`: executors whose workers are MPI processes.

executor        `MPIPoolExecutor`, and how its workers may be threads or must be spawned
comm_executor   `MPICommExecutor`: workers are the other ranks of a communicator
mapping         `map` and `starmap`
pools           what an executor starts: a queue of tasks, and a thread
managers        how that gets its workers
crew            workers as their master sees them
threads         workers that are threads of the rank
shared          workers of all executors, under `-m mpi4py.futures`
greeting        what workers are told first
main_program    the main program on workers
worker          what a worker does
server          what a spawned one runs
tasks, turns, failures, split, own, settings    a task and its future; one thread at a time; exceptions that travel; the two
                sides of a communicator; what is each rank's own; keywords and environment variables
util, aplus     futures made of futures
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

from fakempi.mpi4py.futures import _core
from fakempi.mpi4py.futures.comm_executor import MPICommExecutor
from fakempi.mpi4py.futures.executor import MPIPoolExecutor, ProcessPoolExecutor, ThreadPoolExecutor
from fakempi.mpi4py.futures.own import get_comm_workers
from fakempi.mpi4py.futures.util import collect, compose

__all__ = [
    "ALL_COMPLETED", "FIRST_COMPLETED", "FIRST_EXCEPTION", "BrokenExecutor", "CancelledError", "Executor", "Future",
    "InvalidStateError", "MPICommExecutor", "MPIPoolExecutor", "ProcessPoolExecutor", "ThreadPoolExecutor", "TimeoutError",
    "as_completed", "collect", "compose", "get_comm_workers", "wait",
]  # fmt: skip
_ = _core
