"""What ranks do when: compute, communicate, or neither.

A rank communicates while a transfer with it at either end is under way, and is idle when it neither communicates nor
computes, until the run's end. A rank that computes while a transfer goes on in the background counts as computing.
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
    """(rank, start, end) of all stretches in which ranks compute or communicate, by rank and in order; found once."""
    if "busy" not in trace.kept:
        transfers, computes = trace.transfer_rows, trace.compute_rows
        whose = np.concatenate((transfers["source"], transfers["dest"], computes["rank"]))
        starts = np.concatenate((transfers["start"], transfers["start"], computes["start"]))
        ends = np.concatenate((transfers["sent"], transfers["arrived"], computes["end"]))
        trace.kept["busy"] = unions(whose, starts, ends)
    found: tuple[npt.NDArray[np.int64], Floats, Floats] = trace.kept["busy"]
    return found


def all_work(trace: Columns) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """The same of those in which they compute."""
    if "work" not in trace.kept:
        rows = trace.compute_rows
        trace.kept["work"] = unions(rows["rank"], rows["start"], rows["end"])
    found: tuple[npt.NDArray[np.int64], Floats, Floats] = trace.kept["work"]
    return found


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
    sizes = np.array([max(len(group), 1) for group in groups])[:, None]
    either, computing = (
        covered(spans, edges, group_of, len(groups)) / sizes for spans in (all_busy(trace), all_work(trace))
    )
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
