"""What ranks do when: compute, communicate, or neither.

A rank communicates while a transfer with it at either end is under way, and is idle when it neither communicates nor
computes, until the run's end. A rank that computes while a transfer goes on in the background counts as computing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


def all_busy(trace: Columns) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """(rank, start, end) of all stretches in which ranks compute or communicate, by rank and in order."""
    transfers, computes = trace.transfer_rows, trace.compute_rows
    whose = np.concatenate((transfers["source"], transfers["dest"], computes["rank"]))
    starts = np.concatenate((transfers["start"], transfers["start"], computes["start"]))
    return unions(whose, starts, np.concatenate((transfers["sent"], transfers["arrived"], computes["end"])))


def unions(whose: npt.NDArray[Any], starts: Floats, ends: Floats) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """(rank, start, end) of stretches that do not overlap on any rank, by rank and in order, from stretches that may.

    Times are counted (1st, 2nd, ...), so that one running maximum serves all ranks at once, and is exact.
    """
    whose = whose.astype(np.int64)
    times, numbers = np.unique(np.concatenate((starts, ends)), return_inverse=True)
    first = whose * len(times) + numbers[: len(starts)]
    order = np.argsort(first, kind="stable")
    first, reached = first[order], np.maximum.accumulate((whose * len(times) + numbers[len(starts) :])[order])
    new = np.append(True, first[1:] > reached[:-1])[: len(first)]
    last = reached[np.append(new[1:], True)[: len(first)]]
    first = first[new]
    return first // max(len(times), 1), times[first % max(len(times), 1)], times[last % max(len(times), 1)]


def shares(trace: Columns, edges: Floats, groups: Sequence[Sequence[int]]) -> Floats:
    """By group of ranks, by stretch of time between edges: the shares of communicating, idle and computing.

    Time after the run's end counts for nothing: the shares of a stretch that begins after it are all 0. Every stretch of
    every rank is looked at once, whatever number of them fall between two edges.
    """
    group_of = np.full(trace.ranks, -1)
    for index, group in enumerate(groups):
        group_of[list(group)] = index
    computes = trace.compute_rows
    if "busy" not in trace.kept:
        trace.kept["busy"] = all_busy(trace)
        trace.kept["work"] = unions(computes["rank"], computes["start"], computes["end"])
    sizes = np.array([max(len(group), 1) for group in groups])[:, None]
    either, computing = (covered(trace.kept[kind], edges, group_of, len(groups)) / sizes for kind in ("busy", "work"))
    lived = np.diff(np.minimum(edges, trace.time)) / np.diff(edges)  # the part of a stretch before the end
    found = np.stack((either - computing, lived - either, computing), axis=-1)
    result: Floats = np.clip(found / np.where(lived > 0, lived, 1)[:, None], 0, 1)
    return result


def covered(spans: tuple[Any, Floats, Floats], edges: Floats, group_of: Any, groups: int) -> Floats:
    """By group and stretch of time between edges: how much of that, of all its ranks together, the stretches cover.

    What a stretch covers is added as differences at its two ends, which are then summed from left to right.
    """
    rank, start, end = spans
    mine = (group_of[rank] >= 0) & (end > edges[0]) & (start < edges[-1])
    row = group_of[rank[mine]]
    found = np.zeros((groups, len(edges) + 1))
    for times, sign in ((start[mine], 1.0), (end[mine], -1.0)):
        place = np.interp(times, edges, np.arange(len(edges)))
        first = place.astype(np.int64)
        np.add.at(found, (row, first), sign * (1 - (place - first)))
        np.add.at(found, (row, first + 1), sign * (place - first))
    covered: Floats = np.cumsum(found, axis=1)[:, : len(edges) - 1]
    return covered
