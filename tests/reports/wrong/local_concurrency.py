"""MBI local concurrency: a buffer is changed while it is sent."""

from __future__ import annotations

from typing import Any

import numpy as np

EXPECTED = "buffer-in-use"
WORDS = ""
RANKS = 2


def wrong(comm: Any) -> None:
    data = np.zeros(100_000)
    if comm.rank == 0:
        request = comm.Isend(data, dest=1)
        data[0] = 1.0  # here
        request.Wait()
    else:
        comm.Recv(data, source=0)


def right(comm: Any) -> None:
    data = np.zeros(100_000)
    if comm.rank == 0:
        request = comm.Isend(data, dest=1)
        request.Wait()
        data[0] = 1.0
    else:
        comm.Recv(data, source=0)
