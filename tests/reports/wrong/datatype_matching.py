"""MBI parameter matching, MUST type matching: floats for integers."""

from __future__ import annotations

from typing import Any

import numpy as np

EXPECTED = "datatype-mismatch"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    if comm.rank == 0:
        comm.Send(np.zeros(4, "i4"), dest=1)
    else:
        comm.Recv(np.zeros(4, "f4"), source=0)  # here


def right(comm: Any) -> None:
    if comm.rank == 0:
        comm.Send(np.zeros(4, "f4"), dest=1)
    else:
        comm.Recv(np.zeros(4, "f4"), source=0)
