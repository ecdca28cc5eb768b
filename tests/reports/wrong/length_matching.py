"""MUST length matching: a message longer than its buffer."""

from __future__ import annotations

from typing import Any

import numpy as np

EXPECTED = "RankError"
WORDS = "truncated"
RANKS = 2


def wrong(comm: Any) -> None:
    if comm.rank == 0:
        comm.Send(np.zeros(4), dest=1)
    else:
        comm.Recv(np.zeros(2), source=0)  # here


def right(comm: Any) -> None:
    if comm.rank == 0:
        comm.Send(np.zeros(2), dest=1)
    else:
        comm.Recv(np.zeros(4), source=0)
