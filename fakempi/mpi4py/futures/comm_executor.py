"""`MPICommExecutor`: an executor whose workers are the other ranks of a communicator."""

from __future__ import annotations

from typing import Any

from fakempi import MPI
from fakempi.mpi4py.futures.executor import MPIPoolExecutor
from fakempi.mpi4py.futures.managers import comm_pool, thread_pool
from fakempi.mpi4py.futures.own import own
from fakempi.mpi4py.futures.split import comm_split
from fakempi.mpi4py.futures.worker import serve


class MPICommExecutor:
    """A context that all ranks of a communicator enter: the root gets an executor, and the others None, when it is over.

    Parameters
    ----------
    comm : an intracommunicator; None is COMM_WORLD. Of one rank, a thread is the only worker
    root : the rank that gets the executor
    kwargs : for the executor: initializer, initargs, use_pkl5, backoff
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
            raise RuntimeError("MPICommExecutor: this context has been entered and not left.")
        shared = own().shared
        if shared is None and self._comm.Get_size() > 1:
            between, others = comm_split(self._comm, self._root)
            if self._comm.Get_rank() != self._root:
                serve(between, others)
                others.Free()
                return None
        self._executor = executor = MPIPoolExecutor(**self._options)
        if shared is not None:
            executor._pool = shared(executor)
        elif self._comm.Get_size() == 1:
            executor._pool = thread_pool(executor, MPI.COMM_SELF)
        else:
            executor._pool = comm_pool(executor, between)
        return executor

    def __exit__(self, kind: type[BaseException] | None, *failure: object) -> bool:
        executor, self._executor = self._executor, None
        if executor is None:  # on workers nothing is to be done there: what fails for want of an executor is no error
            return kind is not None and issubclass(kind, Exception)
        executor.shutdown(wait=True)
        return False
