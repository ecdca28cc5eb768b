"""Data of `mpi4py.futures` for each rank. All ranks share the modules of this package, so COMM_SELF of a rank has them."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from fakempi import MPI


class RankData:
    """Data of `mpi4py.futures` for one rank.

    Attributes
    ----------
    shared : the `SharedPool` of `-m mpi4py.futures`; None in a program that was started in another way
    pools : pools that have been started and may be active
    comms : thread that executes tasks -> the communicator of the workers
    importing : the main program that a worker is importing, None otherwise
    lock : held during every MPI call if the thread level is below THREAD_MULTIPLE; otherwise None
    """

    def __init__(self) -> None:
        self.shared: Any = None
        self.pools: WeakSet[Any] = WeakSet()
        self.comms: dict[threading.Thread, MPI.Intracomm] = {}
        self.importing: str | None = None
        self.lock: Any = threading.Lock() if MPI.Query_thread() < MPI.THREAD_MULTIPLE else None


_RANK_DATA = MPI.Comm.Create_keyval()


def rank_data() -> RankData:
    """Return the data of the running rank."""
    data = MPI.COMM_SELF.Get_attr(_RANK_DATA)
    if not isinstance(data, RankData):
        data = RankData()
        MPI.COMM_SELF.Set_attr(_RANK_DATA, data)
    return data


def check_threads() -> None:
    """Warn if the thread level is insufficient."""
    if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
        warnings.warn(
            "mpi4py.futures calls MPI from several threads, but this program requested a thread level below "
            "MPI.THREAD_SERIALIZED (mpi4py.rc).", RuntimeWarning, stacklevel=5,
        )  # fmt: skip


def get_comm_workers() -> MPI.Intracomm:
    """Return the communicator of all workers. Only a task of a worker may call this function."""
    try:
        return rank_data().comms[threading.current_thread()]
    except KeyError:
        raise RuntimeError("get_comm_workers: this thread is not executing a task of a worker.") from None


@contextmanager
def as_worker(comm: MPI.Intracomm | None) -> Iterator[None]:
    """Make `get_comm_workers` return `comm` in the current thread; if `comm` is None, change nothing."""
    comms, thread = rank_data().comms, threading.current_thread()
    previous = comms.get(thread)  # a task may start workers, and its thread may then be one of them
    if comm is not None:
        comms[thread] = comm
    try:
        yield
    finally:
        comms.pop(thread, None)
        if previous is not None:
            comms[thread] = previous
