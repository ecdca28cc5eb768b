"""Rounds: how long chains of transfers are that wait for one another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fakempi.trace.columns import Columns, Rows


def depths(trace: Columns) -> npt.NDArray[np.int64]:
    """For each transfer, how many there are on the longest chain that ends with it; worked out once, and kept.

    A transfer waits for all that its sender has sent or received, and its receiver likewise, before it starts.
    """
    if "depths" not in trace.kept:
        trace.kept["depths"] = _depths(trace.transfer_rows)
    found: npt.NDArray[np.int64] = trace.kept["depths"]
    return found


def _depths(transfers: Rows) -> npt.NDArray[np.int64]:
    count = len(transfers)
    found = np.zeros(count, dtype=np.int64)
    if not count:
        return found
    order = np.argsort(transfers["start"], kind="stable")
    source, dest, start, sent, arrived = (transfers[name][order] for name in ("source", "dest", "start", "sent", "arrived"))
    # What ends at a process, and when. Of what ends at one moment first what started first: that is known by then.
    ends, turns = np.concatenate((sent, arrived)), np.tile(np.arange(count), 2)
    ending = np.lexsort((turns, ends))
    ends, turns, whose = ends[ending].tolist(), turns[ending].tolist(), np.concatenate((source, dest))[ending].tolist()
    depth = [0] * (1 + int(max(source.max(), dest.max())))  # of chains that ended at a process
    reached = [0] * count
    at, last = 0, len(ends)
    for turn, (sender, receiver, now) in enumerate(zip(source.tolist(), dest.tolist(), start.tolist(), strict=True)):
        while at < last and ends[at] <= now and turns[at] < turn:
            process, deep = whose[at], reached[turns[at]]
            if deep > depth[process]:
                depth[process] = deep
            at += 1
        one, other = depth[sender], depth[receiver]
        reached[turn] = 1 + (one if one > other else other)
    found[order] = reached
    return found


def rounds(trace: Columns) -> int:
    """How many transfers there are on the longest chain of transfers that wait for one another."""
    return int(depths(trace).max(initial=0))
