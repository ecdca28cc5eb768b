"""What ranks do when: compute, communicate, or neither.

A rank communicates while a transfer with it at either end is under way, and is idle when it neither communicates nor
computes, until the run's end. A rank that computes while a transfer goes on in the background counts as computing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from fakempi.trace.columns import Columns

Floats = npt.NDArray[np.float64]

COMMUNICATING, IDLE, COMPUTING = range(3)


class Spans:
    """Stretches of time that do not overlap, in order."""

    def __init__(self, starts: Floats, ends: Floats) -> None:
        """From any stretches."""
        order = np.argsort(starts, kind="stable")
        starts, reached = starts[order], np.maximum.accumulate(ends[order]) if len(order) else ends
        new = np.ones(len(starts), dtype=bool)
        new[1:] = starts[1:] > reached[:-1]
        self.starts = starts[new]
        self.ends = reached[np.append(new[1:], True)] if len(order) else reached

    def covered(self, edges: Floats) -> Floats:
        """How much of the time between each edge and the next is covered."""
        if not len(self.starts):
            return np.zeros(len(edges) - 1)
        lengths = self.ends - self.starts
        knots = np.column_stack((self.starts, self.ends)).ravel()
        so_far = np.column_stack((np.cumsum(lengths) - lengths, np.cumsum(lengths))).ravel()
        found: Floats = np.diff(np.interp(edges, knots, so_far))
        return found


def busy_spans(trace: Columns, ranks: Sequence[int]) -> Iterator[tuple[Spans, Spans]]:
    """For each rank: when it computes, and when it computes or communicates."""
    transfers, computes = trace.transfer_rows, trace.compute_rows
    whose = np.concatenate((transfers["source"], transfers["dest"], computes["rank"]))
    starts = np.concatenate((transfers["start"], transfers["start"], computes["start"]))
    ends = np.concatenate((transfers["sent"], transfers["arrived"], computes["end"]))
    order = np.argsort(whose, kind="stable")
    bounds = np.searchsorted(whose[order], np.arange(max(ranks, default=0) + 2)).tolist()
    first_compute = 2 * len(transfers)
    for rank in ranks:
        mine = order[bounds[rank] : bounds[rank + 1]]
        work = mine[np.searchsorted(mine, first_compute) :]  # stable, so in the order of the columns
        yield Spans(starts[work], ends[work]), Spans(starts[mine], ends[mine])


def shares(trace: Columns, edges: Floats, groups: Sequence[Sequence[int]]) -> Floats:
    """By group of ranks, by stretch of time between edges: the shares of communicating, idle and computing.

    Time after the run's end counts for nothing: the shares of a stretch that begins after it are all 0.
    """
    lengths = np.diff(np.minimum(edges, trace.time))
    found = np.zeros((len(groups), len(edges) - 1, 3))
    members = np.array([len(group) for group in groups], dtype=int)
    ranks = np.fromiter(chain.from_iterable(groups), dtype=int, count=int(members.sum()))
    group_of = np.repeat(np.arange(len(groups)), members)
    busy_ranks = np.isin(ranks, active(trace))  # of the others there may be millions
    spans = busy_spans(trace, ranks[busy_ranks].tolist())
    for index, (work, busy) in zip(group_of[busy_ranks].tolist(), spans, strict=True):
        computing, either = work.covered(edges), busy.covered(edges)
        found[index, :, COMMUNICATING] += either - computing
        found[index, :, COMPUTING] += computing
        found[index, :, IDLE] += lengths - either
    found[:, :, IDLE] += np.outer(members - np.bincount(group_of[busy_ranks], minlength=len(groups)), lengths)
    found /= np.where(lengths > 0, lengths, 1)[None, :, None] * np.maximum(members, 1)[:, None, None]
    return np.clip(found, 0, 1)


def active(trace: Columns) -> npt.NDArray[Any]:
    """The ranks that compute or communicate at all."""
    transfers, computes = trace.transfer_rows, trace.compute_rows
    return np.unique(np.concatenate((transfers["source"], transfers["dest"], computes["rank"])))
