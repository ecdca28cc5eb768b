"""Rounds: how long chains of transfers are that wait for one another."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
import numpy.typing as npt

from fakempi.trace.columns import Rows


def depths(transfers: Rows) -> npt.NDArray[np.int64]:
    """For each transfer, how many there are on the longest chain that ends with it.

    A transfer waits for all that its sender has sent or received, and its receiver likewise, before it starts.
    """
    found = np.zeros(len(transfers), dtype=np.int64)
    if not len(transfers):
        return found
    order = np.argsort(transfers["start"], kind="stable")
    columns = [transfers[name][order].tolist() for name in ("source", "dest", "start", "sent", "arrived")]
    depth = [0] * (1 + int(max(transfers["source"].max(), transfers["dest"].max())))  # of chains that ended at a process
    under_way: list[tuple[float, int, int]] = []  # (end, process, depth)
    for index, source, dest, start, sent, arrived in zip(order.tolist(), *columns, strict=True):
        while under_way and under_way[0][0] <= start:
            _, process, reached = heappop(under_way)
            if reached > depth[process]:
                depth[process] = reached
        found[index] = reached = 1 + max(depth[source], depth[dest])
        heappush(under_way, (sent, source, reached))
        heappush(under_way, (arrived, dest, reached))
    return found


def rounds(transfers: Rows) -> int:
    """How many transfers there are on the longest chain of transfers that wait for one another."""
    return int(depths(transfers).max(initial=0))
