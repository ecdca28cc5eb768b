"""Rounds: the length of the longest chain of dependent transfers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fakempi.trace.columns import Columns, Rows


def depths(trace: Columns) -> npt.NDArray[np.int64]:
    """Return for each transfer the length of the longest chain that ends with it; computed once and cached.

    A transfer depends on all transfers that its sender or its receiver has sent or received before it starts.
    """
    if "depths" not in trace.cache:
        trace.cache["depths"] = _depths(trace.transfer_rows)
    result: npt.NDArray[np.int64] = trace.cache["depths"]
    return result


def _depths(transfers: Rows) -> npt.NDArray[np.int64]:
    count = len(transfers)
    depths = np.zeros(count, dtype=np.int64)
    if not count:
        return depths
    order = np.argsort(transfers["start"], kind="stable")
    source, dest, start, sent, arrived = (transfers[name][order] for name in ("source", "dest", "start", "sent", "arrived"))
    # A transfer ends at its sender (`sent`) and at its receiver (`arrived`). Ends are sorted by time. If times are equal,
    # the transfer that starts earlier comes first, because its depth is computed earlier.
    ends, numbers = np.concatenate((sent, arrived)), np.tile(np.arange(count), 2)
    ending = np.lexsort((numbers, ends))
    ends, numbers, owner = ends[ending].tolist(), numbers[ending].tolist(), np.concatenate((source, dest))[ending].tolist()
    depth_of_process = [0] * (1 + int(max(source.max(), dest.max())))  # the longest chain that has ended there
    depth_of_transfer = [0] * count
    next_end, end_count = 0, len(ends)
    for number, (sender, receiver, now) in enumerate(zip(source.tolist(), dest.tolist(), start.tolist(), strict=True)):
        while next_end < end_count and ends[next_end] <= now and numbers[next_end] < number:
            process, depth = owner[next_end], depth_of_transfer[numbers[next_end]]
            if depth > depth_of_process[process]:
                depth_of_process[process] = depth
            next_end += 1
        sender_depth, receiver_depth = depth_of_process[sender], depth_of_process[receiver]
        depth_of_transfer[number] = 1 + (sender_depth if sender_depth > receiver_depth else receiver_depth)
    depths[order] = depth_of_transfer
    return depths


def rounds(trace: Columns) -> int:
    """Return the number of transfers on the longest chain of dependent transfers."""
    return int(depths(trace).max(initial=0))
