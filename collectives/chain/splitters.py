"""Cheng et al.'s sort of many items on a few processes: exact splitters by weighted medians, one exchange, one merge.

Each process has a sorted list. The k-th splitter is the place in each list up to which items belong to the first k
processes. All splitters are found at once. For each of them a process keeps the part of its list in which the place
still can be; process k gets everybody's middle item of that part, with the part's length, and takes their weighted median;
everybody learns all medians and how many items are below each. At least a quarter of what was left is gone after each turn.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from collectives.catalogue.algorithm import Algorithm
from collectives.chain.items import Order
from collectives.chain.merging import cut, merged
from collectives.chain.meter import Work
from collectives.intra.allgather import bruck as allgather_bruck
from collectives.intra.allreduce import recursive_doubling as allreduce_recursive_doubling
from collectives.intra.alltoall import pairwise as alltoall_pairwise
from collectives.intra.alltoallv import pairwise as alltoallv_pairwise
from collectives.tools.protocol import Comm

ALLTOALL = alltoall_pairwise.ALGORITHM
WEIGHT = 8
"""Bytes of the number that goes with a median."""


class _Sum:
    """All that an allreduce asks of an op."""

    def Reduce_local(self, inbuf: Any, inoutbuf: Any, /) -> None:
        """Add the one to the other."""
        inoutbuf += inbuf

    def Is_commutative(self) -> bool:
        """Yes."""
        return True


def sort_lists(
    comm: Comm,
    items: Sequence[bytes],
    sizes: Sequence[int],
    width: int,
    *,
    order: Order,
    work: Work,
    alltoall: Algorithm,
    tag: int,
) -> list[bytes]:
    """Sort everybody's sorted lists, no two items alike; process k keeps `sizes[k]` of them."""
    size, rank = comm.Get_size(), comm.Get_rank()
    places = find_splitters(comm, items, sizes, width, order=order, work=work, alltoall=alltoall, tag=tag)
    counts = np.diff(places)
    coming = np.empty(size, np.int64)
    alltoall.run(comm, counts, coming, tag=tag)
    block = np.frombuffer(b"".join(items), np.uint8)
    into = np.empty(sizes[rank] * width, np.uint8)
    alltoallv_pairwise.ALGORITHM.run(
        comm, block, into, [int(n) * width for n in counts], [int(n) * width for n in coming], tag=tag
    )
    mine, ends = cut(into, width), np.cumsum(coming)
    runs = [mine[int(end - count) : int(end)] for end, count in zip(ends, coming, strict=True) if count]
    return merged(*runs, order=order, work=work)


def find_splitters(
    comm: Comm,
    items: Sequence[bytes],
    sizes: Sequence[int],
    width: int,
    *,
    order: Order,
    work: Work,
    alltoall: Algorithm,
    tag: int,
) -> Any:
    """Where to cut the own list: process k gets items [place k, place k+1)."""
    size, rank = comm.Get_size(), comm.Get_rank()
    ranked = items if order is None else [order(item) for item in items]
    targets = np.cumsum(np.array([0, *sizes[:-1]], np.int64))
    low, high = np.zeros(size, np.int64), np.full(size, len(items), np.int64)
    low[0] = high[0] = 0
    open_ones = np.arange(size) > 0
    record = WEIGHT + width
    while open_ones.any():
        # 1. Everybody's middle item of what is left for splitter k, to process k.
        out, into = np.zeros((size, record), np.uint8), np.empty((size, record), np.uint8)
        for k in np.flatnonzero(open_ones & (high > low)):
            out[k, :WEIGHT].view(np.int64)[0] = high[k] - low[k]
            out[k, WEIGHT:] = np.frombuffer(items[int(low[k] + high[k]) // 2], np.uint8)
        alltoall.run(comm, out.reshape(-1), into.reshape(-1), tag=tag)
        # 2. Process k takes the weighted median, and everybody learns it.
        median = np.zeros(width, np.uint8)
        if open_ones[rank]:
            median = np.frombuffer(weighted_median(into, order), np.uint8)
        medians = np.empty(size * width, np.uint8)
        allgather_bruck.ALGORITHM.run(comm, median, medians, tag=tag)
        # 3. How many of all items are below each median?
        below = np.zeros(size, np.int64)
        for k in np.flatnonzero(open_ones):
            bound = medians[k * width : (k + 1) * width].tobytes()
            below[k] = bisect_left(ranked, bound if order is None else order(bound))
        total = np.empty(size, np.int64)
        allreduce_recursive_doubling.ALGORITHM.run(comm, below, total, op=_Sum(), tag=tag)
        # 4. Less is left: what is below the splitter or what is not.
        if work is not None:
            work(int(open_ones.sum()) * (len(items).bit_length() + 1))
        for k in np.flatnonzero(open_ones):
            cut_at, bound = int(below[k]), medians[k * width : (k + 1) * width].tobytes()
            if total[k] < targets[k]:
                low[k] = cut_at + (cut_at < len(items) and items[cut_at] == bound)
            else:
                high[k] = cut_at
                if total[k] == targets[k]:
                    low[k] = cut_at
        open_ones &= total != targets
    return np.append(low, len(items))


def weighted_median(rows: Any, order: Order) -> bytes:
    """Of rows of a weight and an item, the first item in order that has half of the weight up to it."""
    pairs: list[tuple[bytes, int]] = [(row[WEIGHT:].tobytes(), int(row[:WEIGHT].view(np.int64)[0])) for row in rows]
    pairs = [pair for pair in pairs if pair[1]]
    pairs.sort(key=lambda pair: pair[0] if order is None else order(pair[0]))
    half, weight = sum(weight for _, weight in pairs) / 2, 0
    for item, more in pairs:
        weight += more
        if weight >= half:
            return item
    raise AssertionError("the splitter's place is somewhere, so somebody has an item left")
