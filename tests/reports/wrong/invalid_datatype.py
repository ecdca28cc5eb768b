"""MBI invalid datatype: used before Commit."""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi import MPI

EXPECTED = "RankError"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    pair = MPI.INT.Create_contiguous(2)
    comm.Sendrecv([np.zeros(2, "i4"), 1, pair], comm.rank, 0, [np.zeros(2, "i4"), 1, pair], comm.rank)  # here


def right(comm: Any) -> None:
    pair = MPI.INT.Create_contiguous(2).Commit()
    comm.Sendrecv([np.zeros(2, "i4"), 1, pair], comm.rank, 0, [np.zeros(2, "i4"), 1, pair], comm.rank)
    pair.Free()
