"""The papers' method on a real machine: everybody starts together, the slowest rank counts, and of many repeats the median.

Träff et al. (2008) and Kang et al. (2019) time so, with a barrier before each repeat. `collectives` calls no collective of a
communicator elsewhere; here the machine's own barrier and reduction stand around what is timed, never within.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Sample(NamedTuple):
    """What the repeats took, in seconds, each until its slowest rank was done."""

    median: float
    least: float
    most: float


def timed(comm: Any, call: Callable[[], Any], repeats: int, clock: Callable[[], float], maximum: Any) -> Sample:
    """Make a call so many times, and once before that which does not count; every rank gets the same answer.

    `clock` and `maximum` are the machine's Wtime and MAX.
    """
    call()
    own, slowest = np.empty(repeats), np.empty(repeats)
    for repeat in range(repeats):
        comm.Barrier()
        start = clock()
        call()
        own[repeat] = clock() - start
    comm.Allreduce(own, slowest, maximum)
    return Sample(float(np.median(slowest)), float(slowest.min()), float(slowest.max()))
