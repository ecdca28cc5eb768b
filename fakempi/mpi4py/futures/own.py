"""What each rank has of its own here. All ranks share these modules, so it is kept with the rank's COMM_SELF."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from fakempi import MPI


class Own:
    """A rank's own.

    Attributes
    ----------
    shared : the workers of `-m mpi4py.futures`, None without it
    pools : those that have been started, and may still be going on
    comms : of threads that execute tasks, by thread: the communicator of the workers
    importing : the main program that a worker is importing, None otherwise
    lock : held during every call of MPI, where one thread at a time may make one; otherwise None
    """

    def __init__(self) -> None:
        self.shared: Any = None
        self.pools: WeakSet[Any] = WeakSet()
        self.comms: dict[threading.Thread, MPI.Intracomm] = {}
        self.importing: str | None = None
        self.lock: Any = threading.Lock() if MPI.Query_thread() < MPI.THREAD_MULTIPLE else None


_keyvals: list[int] = []


def own() -> Own:
    """That of the running rank."""
    if not _keyvals:
        _keyvals.append(MPI.Comm.Create_keyval())
    found: Own | None = MPI.COMM_SELF.Get_attr(_keyvals[0])
    if found is None:
        found = Own()
        MPI.COMM_SELF.Set_attr(_keyvals[0], found)
    return found


def check_threads() -> None:
    """Warn whoever has asked MPI for less than this needs."""
    if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
        warnings.warn(
            "mpi4py.futures calls MPI from threads of its own, but this program has asked for less than "
            "MPI.THREAD_SERIALIZED (mpi4py.rc).", RuntimeWarning, stacklevel=5,
        )  # fmt: skip


def get_comm_workers() -> MPI.Intracomm:
    """In a task: the communicator of all workers, this one among them."""
    try:
        return own().comms[threading.current_thread()]
    except KeyError:
        raise RuntimeError("get_comm_workers: no worker is running here, so there is no communicator of workers.") from None


@contextmanager
def as_worker(comm: MPI.Intracomm | None) -> Iterator[None]:
    """While a thread executes tasks: `get_comm_workers` gives this communicator there, if it is one."""
    comms, thread = own().comms, threading.current_thread()
    before = comms.get(thread)  # a task may have workers of its own, and be one of them
    if comm is not None:
        comms[thread] = comm
    try:
        yield
    finally:
        comms.pop(thread, None)
        if before is not None:
            comms[thread] = before
