"""The critical path: the chain of work and messages that decided when the run ended, found backwards from its end.

Whatever ends last on a rank is what the rank waited for. A transfer began when its sender had posted it, its receiver
awaited it (if it is synchronous) and both ports were free; the path goes on where the last of these came from.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

import numpy as np

from fakempi.trace.columns import Columns

COMPUTE, TRANSFER, WAIT = "compute", "transfer", "wait"


class Step(NamedTuple):
    """A stretch of the path: computing on a rank, a transfer to it (or from it), or a wait that nothing here explains."""

    kind: str
    rank: int  # where the stretch ends
    start: float
    end: float
    source: int  # of a transfer, otherwise the rank
    dest: int
    nbytes: int
    call: int


def critical_path(trace: Columns) -> list[Step]:
    """The steps, first to last; they follow one another without a gap from 0 to the end of the run."""
    transfers, computes = trace.transfer_rows, trace.compute_rows
    n, m = len(transfers), len(computes)
    # Everything that ends somewhere: computing, sends, receives. Numbered by when it ends.
    ends = np.concatenate((computes["end"], transfers["sent"], transfers["arrived"]))
    whose = np.concatenate((computes["rank"], transfers["source"], transfers["dest"]))
    order = np.lexsort((np.concatenate((computes["start"], transfers["start"], transfers["start"])), ends))
    ended, owner = ends[order].tolist(), whose[order]
    mine: dict[int, list[int]] = {}
    grouped = np.argsort(owner, kind="stable")
    bounds = np.searchsorted(owner[grouped], np.arange(trace.ranks + 1))

    def of(rank: int) -> list[int]:
        if rank not in mine:
            mine[rank] = grouped[bounds[rank] : bounds[rank + 1]].tolist()
        return mine[rank]

    rank, time = int(np.argmax(trace.clocks)), trace.time
    before = len(order)  # only what is earlier in the order may follow, so the walk ends
    steps: list[Step] = []
    while time > 0:
        here = of(rank)
        at = bisect_left(here, before) - 1
        while at >= 0 and ended[here[at]] > time:
            at -= 1
        if at < 0:
            steps.append(Step(WAIT, rank, 0.0, time, rank, rank, 0, 0))
            break
        before = here[at]
        if ended[before] < time:
            steps.append(Step(WAIT, rank, ended[before], time, rank, rank, 0, 0))
            time = ended[before]
        number = int(order[before])
        if number < m:
            row = computes[number]
            step = Step(COMPUTE, rank, float(row["start"]), time, rank, rank, 0, int(row["call"]))
            onward = rank
        else:
            row = transfers[(number - m) % n]
            source, dest, start = int(row["source"]), int(row["dest"]), float(row["start"])
            step = Step(TRANSFER, rank, start, time, source, dest, int(row["nbytes"]), int(row["call"]))
            if row["posted"] == start:
                onward = source
            elif row["awaited"] == start:
                onward = dest
            else:  # a port was busy until then: on which side?
                onward = source if _ends_at(of(source), ended, before, start) else dest
        if step.end > step.start or step.kind == TRANSFER:
            steps.append(step)
        rank, time = onward, step.start
    return steps[::-1]


def _ends_at(mine: list[int], ended: list[float], before: int, time: float) -> bool:
    at = bisect_left(mine, before) - 1
    while at >= 0 and ended[mine[at]] > time:
        at -= 1
    return at >= 0 and ended[mine[at]] == time
