"""`MPICommExecutor`: an executor whose workers are the other ranks of a communicator."""

from __future__ import annotations

from typing import Any

from fakempi import MPI
from fakempi.isolation.mpi4py.futures.executor import MPIPoolExecutor
from fakempi.isolation.mpi4py.futures.managers import comm_pool, thread_pool
from fakempi.isolation.mpi4py.futures.rank_data import rank_data
from fakempi.isolation.mpi4py.futures.split import comm_split
from fakempi.isolation.mpi4py.futures.worker import serve


class MPICommExecutor:
    """A context manager that all ranks of a communicator enter.

    On `root`, entering returns an executor. Every other rank is a worker: entering returns None when the executor has shut
    down.

    Parameters
    ----------
    comm : an intracommunicator; None means COMM_WORLD. If it has only 1 rank, the worker is a thread of that rank
    root : the rank that gets the executor
    kwargs : options of the executor: initializer, initargs, use_pkl5, backoff
    """

    def __init__(self, comm: MPI.Intracomm | None = None, root: int = 0, **kwargs: Any) -> None:
        self._comm: Any = MPI.COMM_WORLD if comm is None else comm
        if self._comm.Is_inter():
            raise ValueError("MPICommExecutor: comm is an intercommunicator, not an intracommunicator.")
        if not 0 <= root < self._comm.Get_size():
            raise ValueError(f"MPICommExecutor: root {root} is not in 0..{self._comm.Get_size() - 1}.")
        self._root, self._options = root, kwargs
        self._executor: MPIPoolExecutor | None = None

    def __enter__(self) -> MPIPoolExecutor | None:
        if self._executor is not None:
            raise RuntimeError("MPICommExecutor: this context is already active.")
        shared = rank_data().shared
        if shared is None and self._comm.Get_size() > 1:
            intercomm, workers = comm_split(self._comm, self._root)
            if self._comm.Get_rank() != self._root:
                serve(intercomm, workers)
                workers.Free()
                return None
        self._executor = executor = MPIPoolExecutor(**self._options)
        if shared is not None:
            executor._pool = shared(executor)
        elif self._comm.Get_size() == 1:
            executor._pool = thread_pool(executor, MPI.COMM_SELF)
        else:
            executor._pool = comm_pool(executor, intercomm)
        return executor

    def __exit__(self, exception_type: type[BaseException] | None, *_: object) -> bool:
        executor, self._executor = self._executor, None
        if executor is None:  # on a worker, ignore exceptions of the body: its `executor` is None
            return exception_type is not None and issubclass(exception_type, Exception)
        executor.shutdown(wait=True)
        return False
