"""The first message to workers: search path, main program and communication options."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from fakempi import MPI
from fakempi.isolation.mpi4py.futures import settings
from fakempi.isolation.mpi4py.futures.main_program import Main, main_program, run_main_program
from fakempi.isolation.mpi4py.futures.rank_data import rank_data
from fakempi.isolation.mpi4py.futures.serialized_comm import SerializedComm
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
