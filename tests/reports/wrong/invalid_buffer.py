"""MBI invalid buffer; MUST argument checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi import MPI

EXPECTED = "RankError"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    comm.Send([np.zeros(2), 3], dest=MPI.PROC_NULL if comm.rank else 1)  # here
    if comm.rank == 1:
        comm.Recv(np.empty(3), source=0)


def right(comm: Any) -> None:
    comm.Send([np.zeros(3), 3], dest=MPI.PROC_NULL if comm.rank else 1)
    if comm.rank == 1:
        comm.Recv(np.empty(3), source=0)
