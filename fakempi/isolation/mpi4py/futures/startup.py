"""The communicators of master and workers, and the first message: search path, main program, communication options.

Below THREAD_MULTIPLE, MPI calls of threads are short calls under the lock of the rank, with sleeps between polls
(`SerializedComm`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from fakempi import MPI
from fakempi.isolation.mpi4py.futures import settings
from fakempi.isolation.mpi4py.futures.main_program import Main, main_program, run_main_program
from fakempi.isolation.mpi4py.futures.rank_data import rank_data
from fakempi.isolation.mpi4py.util import pkl5


def start_workers(comm: Any, options: Mapping[str, Any], send_main: bool = True) -> Any:
    """Send the start message to workers, with the main program if `send_main`; return a communicator for tasks.

    Pickling errors are raised before anything is sent.
    """
    setup: dict[str, Any] = {"use_pkl5": settings.use_pkl5(options), "backoff": settings.backoff(options)}
    if send_main:
        setup["main"] = main_program() if options.get("main", True) else Main()
        setup["globals"] = dict(options.get("globals") or ())
        setup["env"] = dict(options.get("env") or ())
        setup["path"] = [os.fspath(directory) for directory in options.get("path") or ()]
    packed = MPI.pickle.dumps(setup)
    _channel(comm, setup["backoff"]).bcast(packed, MPI.ROOT)
    return _channel(pkl5.Intercomm(comm) if setup["use_pkl5"] else comm, setup["backoff"])


def dismiss_workers(comm: Any) -> None:
    """Inform workers that there are no tasks."""
    channel = _channel(comm, 0.0)
    channel.bcast(None, MPI.ROOT)
    channel.Disconnect()


def await_start(comm: Any) -> Any:
    """Receive the start message on a worker; return a communicator for tasks, None if there are none."""
    packed = comm.bcast(None, 0)
    if packed is None:
        comm.Disconnect()
        return None
    setup = MPI.pickle.loads(packed)
    if "main" in setup:
        sys.path.extend(setup["path"])
        os.environ.update(setup["env"])
        run_main_program(setup["main"], setup["globals"])
    return pkl5.Intercomm(comm) if setup["use_pkl5"] else comm


def _channel(comm: Any, backoff: float) -> Any:
    """Return the communicator, or a serialized one if the thread level requires it."""
    lock = rank_data().lock
    return comm if lock is None else SerializedComm(comm, lock, backoff)


def comm_split(comm: MPI.Intracomm, root: int) -> tuple[Any, Any]:
    """Return an intercommunicator between root and the other ranks, and an intracommunicator of the other ranks.

    Both are COMM_NULL if the communicator has 1 rank; the second is COMM_NULL on root.
    """
    if comm.Get_size() == 1:
        return MPI.COMM_NULL, MPI.COMM_NULL
    master = comm.Get_rank() == root
    side = comm.Split(0 if master else 1)
    assert isinstance(side, MPI.Intracomm)
    intercomm = side.Create_intercomm(0, comm, (1 if root == 0 else 0) if master else root)
    if master:
        side.Free()
        return intercomm, MPI.COMM_NULL
    return intercomm, side


class SerializedComm:
    """An intercommunicator whose calls hold a lock for a short time. It is not needed with THREAD_MULTIPLE."""

    def __init__(self, comm: Any, lock: Any, backoff: float) -> None:
        self.comm, self.lock, self.backoff = comm, lock, backoff

    def send(self, obj: Any, dest: int) -> None:
        """Send an object and poll until it is received."""
        with self.lock:
            request = self.comm.issend(obj, dest)
        self._poll(lambda: request.test()[0])

    def recv(self, status: MPI.Status) -> Any:
        """Poll until an object arrives from any worker, and receive it."""
        self._poll(lambda: self.comm.iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status))
        with self.lock:
            return self.comm.recv(None, status.source, MPI.ANY_TAG, status)

    def bcast(self, obj: Any, root: int) -> Any:
        """Broadcast the start message, which is small."""
        with self.lock:
            return self.comm.bcast(obj, root)

    def Disconnect(self) -> None:
        """Disconnect the communicator."""
        with self.lock:
            self.comm.Disconnect()

    def _poll(self, is_done: Callable[[], Any]) -> None:
        delay = 0.0
        while True:
            with self.lock:
                if is_done():
                    return
            time.sleep(delay)
            delay = min(self.backoff, 2 * delay or self.backoff / 1024)
