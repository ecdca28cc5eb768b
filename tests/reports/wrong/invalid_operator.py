"""MBI invalid operator: an operation that floats do not have."""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi import MPI

EXPECTED = "RankError"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    comm.Allreduce(np.zeros(1), np.zeros(1), op=MPI.BXOR)  # here


def right(comm: Any) -> None:
    comm.Allreduce(np.zeros(1, "i4"), np.zeros(1, "i4"), op=MPI.BXOR)
