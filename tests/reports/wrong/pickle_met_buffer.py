"""mpi4py: an object is received as a buffer."""

from __future__ import annotations

from typing import Any

import numpy as np

EXPECTED = "pickle-met-buffer"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    if comm.rank == 0:
        comm.send(1.0, dest=1)
    else:
        comm.Recv(np.zeros(100), source=0)  # here


def right(comm: Any) -> None:
    if comm.rank == 0:
        comm.send(1.0, dest=1)
    else:
        comm.recv(source=0)
