"""What can be read off the transfers of a run."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from fakempi.trace.columns import Rows


def rounds(transfers: Rows) -> int:
    """How many transfers there are on the longest chain of transfers that wait for one another.

    A transfer waits for all that its sender has sent or received, and its receiver likewise, before it starts.
    """
    if not len(transfers):
        return 0
    order = np.argsort(transfers["start"], kind="stable")
    columns = [transfers[name][order].tolist() for name in ("source", "dest", "start", "sent", "arrived")]
    depth = [0] * (1 + int(max(transfers["source"].max(), transfers["dest"].max())))  # of chains that ended at a process
    under_way: list[tuple[float, int, int]] = []  # (end, process, depth)
    longest = 0
    for source, dest, start, sent, arrived in zip(*columns, strict=True):
        while under_way and under_way[0][0] <= start:
            _, process, reached = heappop(under_way)
            if reached > depth[process]:
                depth[process] = reached
        reached = 1 + max(depth[source], depth[dest])
        longest = max(longest, reached)
        heappush(under_way, (sent, source, reached))
        heappush(under_way, (arrived, dest, reached))
    return longest
