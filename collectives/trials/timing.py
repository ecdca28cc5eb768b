"""Measure a call: a barrier before each repeat, the maximum over all ranks, and the median over all repeats.

This is the method of Träff et al. (2008) and Kang et al. (2019). Within `collectives`, only this module calls Barrier and
Allreduce of a communicator; they are outside the measured interval.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class TimingSummary(NamedTuple):
    """Seconds until the slowest rank finished: median, minimum and maximum over the repeats."""

    median: float
    minimum: float
    maximum: float


def timed(comm: Any, call: Callable[[], Any], repeats: int, clock: Callable[[], float], maximum: Any) -> TimingSummary:
    """Make a call `repeats` times after one warm-up call, and return the same sample on every rank.

    `clock` and `maximum` are the MPI library's Wtime and MAX.
    """
    call()
    own, slowest = np.empty(repeats), np.empty(repeats)
    for repeat in range(repeats):
        comm.Barrier()
        start = clock()
        call()
        own[repeat] = clock() - start
    comm.Allreduce(own, slowest, maximum)
    return TimingSummary(float(np.median(slowest)), float(slowest.min()), float(slowest.max()))
