"""The states of ranks over time: computing, communicating, idle.

A rank communicates during each transfer that it sends or receives. It is idle, until the end of the run, when it does not
communicate and does not compute. A rank that computes during a transfer counts as computing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fakempi.trace.columns import Columns

Floats = npt.NDArray[np.float64]

COMMUNICATING, IDLE, COMPUTING = range(3)


def all_busy(trace: Columns) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Return (rank, start, end) of all intervals in which ranks compute or communicate, by rank and time; cached."""
    if "busy" not in trace.cache:
        transfers, computes = trace.transfer_rows, trace.compute_rows
        owner = np.concatenate((transfers["source"], transfers["dest"], computes["rank"]))
        starts = np.concatenate((transfers["start"], transfers["start"], computes["start"]))
        ends = np.concatenate((transfers["sent"], transfers["arrived"], computes["end"]))
        trace.cache["busy"] = unions(owner, starts, ends)
    intervals: tuple[npt.NDArray[np.int64], Floats, Floats] = trace.cache["busy"]
    return intervals


def all_work(trace: Columns) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Return (rank, start, end) of all intervals in which ranks compute, by rank and time; cached."""
    if "work" not in trace.cache:
        rows = trace.compute_rows
        trace.cache["work"] = unions(rows["rank"], rows["start"], rows["end"])
    intervals: tuple[npt.NDArray[np.int64], Floats, Floats] = trace.cache["work"]
    return intervals


def unions(owner: npt.NDArray[Any], starts: Floats, ends: Floats) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Merge overlapping intervals of each rank; returns (rank, start, end) of the merged ones, by rank and time.

    Times are replaced by their ranks in sorted order, so that one running maximum serves all ranks at once, exactly.
    """
    owner = owner.astype(np.int64)
    times, numbers = np.unique(np.concatenate((starts, ends)), return_inverse=True)
    first = owner * len(times) + numbers[: len(starts)]
    order = np.argsort(first, kind="stable")
    first, reached = first[order], np.maximum.accumulate((owner * len(times) + numbers[len(starts) :])[order])
    new = np.append(True, first[1:] > reached[:-1])[: len(first)]
    last = reached[np.append(new[1:], True)[: len(first)]]
    first = first[new]
    return first // max(len(times), 1), times[first % max(len(times), 1)], times[last % max(len(times), 1)]


def shares(trace: Columns, edges: Floats, groups: Sequence[Sequence[int]]) -> Floats:
    """Return the shares of communicating, idle and computing, by group of ranks and by bin of time between two edges.

    Time after the end of the run is not counted: the shares of a bin that begins after it are all 0. The cost is linear in
    the number of intervals, independent of the number of bins they cover.
    """
    group_of = np.full(trace.ranks, -1)
    for index, group in enumerate(groups):
        group_of[list(group)] = index
    sizes = np.array([max(len(group), 1) for group in groups])[:, None]
    either, computing = (
        covered(spans, edges, group_of, len(groups)) / sizes for spans in (all_busy(trace), all_work(trace))
    )
    widths = np.diff(edges)  # 0 where two edges coincide because the times are tiny
    lived = np.diff(np.minimum(edges, trace.time)) / np.where(widths > 0, widths, 1)  # the part of a bin before the end
    seconds = np.stack((either - computing, lived - either, computing), axis=-1)
    result: Floats = np.clip(seconds / np.where(lived > 0, lived, 1)[:, None], 0, 1)
    return result


def covered(spans: tuple[Any, Floats, Floats], edges: Floats, group_of: Any, groups: int) -> Floats:
    """Return how much of each bin of time the intervals cover, by group, summed over the group's ranks.

    An interval is added as differences at its two ends, which are then summed from left to right.
    """
    rank, start, end = spans
    mine = (group_of[rank] >= 0) & (end > edges[0]) & (start < edges[-1])
    row = group_of[rank[mine]]
    changes = np.zeros((groups, len(edges) + 1))
    for times, sign in ((start[mine], 1.0), (end[mine], -1.0)):
        place = np.interp(times, edges, np.arange(len(edges)))
        first = place.astype(np.int64)
        np.add.at(changes, (row, first), sign * (1 - (place - first)))
        np.add.at(changes, (row, first + 1), sign * (place - first))
    covered: Floats = np.cumsum(changes, axis=1)[:, : len(edges) - 1]
    return covered
