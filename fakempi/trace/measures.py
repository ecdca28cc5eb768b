"""What can be read off the transfers of a run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from heapq import heappop, heappush

from fakempi.trace.recorder import Transfer


def rounds(transfers: Iterable[Transfer]) -> int:
    """How many transfers there are on the longest chain of transfers that wait for one another.

    A transfer waits for all that its sender has sent or received, and its receiver likewise, before it starts.
    """
    depth: dict[int, int] = defaultdict(int)  # of the chains that have ended at each process
    under_way: list[tuple[float, int, int]] = []  # (end, process, depth)
    longest = 0
    for transfer in sorted(transfers, key=lambda transfer: transfer.start):
        while under_way and under_way[0][0] <= transfer.start:
            _, process, reached = heappop(under_way)
            depth[process] = max(depth[process], reached)
        reached = 1 + max(depth[transfer.source], depth[transfer.dest])
        longest = max(longest, reached)
        heappush(under_way, (transfer.sent, transfer.source, reached))
        heappush(under_way, (transfer.arrived, transfer.dest, reached))
    return longest
