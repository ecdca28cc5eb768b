"""MUST overlapping buffers: send and receive buffer share memory."""

from __future__ import annotations

from typing import Any

import numpy as np

EXPECTED = "buffer-overlap"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    data = np.zeros(6)
    comm.Sendrecv(data[:4], comm.rank, 0, data[2:], comm.rank, 0)  # here


def right(comm: Any) -> None:
    data = np.zeros(8)
    comm.Sendrecv(data[:4], comm.rank, 0, data[4:], comm.rank, 0)
