"""The critical path: the chain of computing and messages that determines the end of the run, found backwards from the end.

At each point, the path continues with the interval (computing, send or receive) of the current rank that ends last before
that point. A transfer starts when its send is posted, its receive is posted (if it is synchronous) and both ports are free;
the path continues with the last of these conditions.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from fakempi.trace.columns import Columns

COMPUTE, TRANSFER, WAIT = "compute", "transfer", "wait"


class PathStep(NamedTuple):
    """A step of the path: computing on a rank, a transfer to or from it, or a wait without a recorded reason."""

    kind: str
    rank: int  # where the step ends
    start: float
    end: float
    source: int  # of a transfer, otherwise the rank
    dest: int
    nbytes: int
    call: int


def critical_path(trace: Columns) -> list[PathStep]:
    """Return the steps in order of time, without gaps from 0 to the end of the run."""
    transfers, computes = trace.transfer_rows, trace.compute_rows
    n, m = len(transfers), len(computes)
    # All intervals of computing, sends and receives, numbered by their ends.
    ends = np.concatenate((computes["end"], transfers["sent"], transfers["arrived"]))
    ranks = np.concatenate((computes["rank"], transfers["source"], transfers["dest"]))
    order = np.lexsort((np.concatenate((computes["start"], transfers["start"], transfers["start"])), ends))
    ended, owner = ends[order].tolist(), ranks[order]
    mine: dict[int, list[int]] = {}
    grouped = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[grouped], np.arange(trace.ranks + 1))

    def intervals_of(rank: int) -> list[int]:
        if rank not in mine:
            mine[rank] = grouped[bounds[rank] : bounds[rank + 1]].tolist()
        return mine[rank]

    rank, time = int(np.argmax(trace.clocks)), trace.time
    before = len(order)  # only earlier intervals may follow, so the loop ends
    steps: list[PathStep] = []
    while time > 0:
        intervals = intervals_of(rank)
        at = bisect_left(intervals, before) - 1
        while at >= 0 and ended[intervals[at]] > time:
            at -= 1
        if at < 0:
            steps.append(PathStep(WAIT, rank, 0.0, time, rank, rank, 0, 0))
            break
        before = intervals[at]
        if ended[before] < time:
            steps.append(PathStep(WAIT, rank, ended[before], time, rank, rank, 0, 0))
            time = ended[before]
        number = int(order[before])
        if number < m:
            row = computes[number]
            step = PathStep(COMPUTE, rank, float(row["start"]), time, rank, rank, 0, int(row["call"]))
            next_rank = rank
        else:
            row = transfers[(number - m) % n]
            source, dest, start = int(row["source"]), int(row["dest"]), float(row["start"])
            step = PathStep(TRANSFER, rank, start, time, source, dest, int(row["nbytes"]), int(row["call"]))
            if row["posted"] == start:
                next_rank = source
            elif row["awaited"] == start:
                next_rank = dest
            else:  # a port was busy until then: the sender's or the receiver's
                next_rank = source if _ends_at(intervals_of(source), ended, before, start) else dest
        if step.end > step.start or step.kind == TRANSFER:
            steps.append(step)
        rank, time = next_rank, step.start
    return steps[::-1]


def _ends_at(mine: list[int], ended: list[float], before: int, time: float) -> bool:
    at = bisect_left(mine, before) - 1
    while at >= 0 and ended[mine[at]] > time:
        at -= 1
    return at >= 0 and ended[mine[at]] == time
