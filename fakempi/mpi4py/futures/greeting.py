"""The first message to workers: where to look for modules, and what the main program is."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from fakempi import MPI
from fakempi.mpi4py.futures import settings
from fakempi.mpi4py.futures.main_program import Main, become, main_program
from fakempi.mpi4py.futures.own import own
from fakempi.mpi4py.futures.turns import Turns
from fakempi.mpi4py.util import pkl5


def greet(comm: Any, options: Mapping[str, Any], strangers: bool = True) -> Any:
    """As master: tell workers what they need. Strangers do not know the main program. Returns how to talk to them.

    What cannot be pickled is raised before anything is said.
    """
    said: dict[str, Any] = {"use_pkl5": settings.use_pkl5(options), "backoff": settings.backoff(options)}
    if strangers:
        said["main"] = main_program() if options.get("main", True) else Main()
        said["globals"] = dict(options.get("globals") or ())
        said["path"] = [os.fspath(folder) for folder in options.get("path") or ()]
    packed = MPI.pickle.dumps(said)
    _in_turn(comm, said["backoff"]).bcast(packed, MPI.ROOT)
    return _in_turn(pkl5.Intercomm(comm) if said["use_pkl5"] else comm, said["backoff"])


def dismiss(comm: Any) -> None:
    """As master: tell workers that there is nothing to be done."""
    line = _in_turn(comm, 0.0)
    line.bcast(None, MPI.ROOT)
    line.Disconnect()


def listen(comm: Any) -> Any:
    """As worker: do what one is told. Returns how to talk to the master, None if there is nothing to be done."""
    packed = comm.bcast(None, 0)
    if packed is None:
        comm.Disconnect()
        return None
    said = MPI.pickle.loads(packed)
    if "main" in said:
        sys.path.extend(said["path"])
        become(said["main"], said["globals"])
    return pkl5.Intercomm(comm) if said["use_pkl5"] else comm


def _in_turn(comm: Any, backoff: float) -> Any:
    """How to talk: by MPI as it is, or one thread at a time."""
    lock = own().lock
    return comm if lock is None else Turns(comm, lock, backoff)
