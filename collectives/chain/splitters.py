"""Cheng et al.'s parallel sort of many items on a few processes: exact splitters by weighted medians, exchange, merge.

Each process has a sorted list. The k-th splitter is the position in each list up to which items belong to the first k
processes. All splitters are computed together. For each splitter a process keeps the range of possible positions in its
list. In each iteration, process k receives the middle item of every process's range with the range's length, and computes
the weighted median. Then all processes receive all medians and the number of items below each. Every iteration removes at
least a quarter of the remaining ranges.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from collectives.catalogue.algorithm import Algorithm
from collectives.chain.items import SortKey
from collectives.chain.merging import merge, split_items
from collectives.chain.meter import WorkCallback
from collectives.intra.allgather.bruck import allgather_bruck
from collectives.intra.allreduce.recursive_doubling import allreduce_recursive_doubling
from collectives.intra.alltoall.pairwise import alltoall_pairwise
from collectives.intra.alltoallv.pairwise import alltoallv_pairwise
from collectives.patterns.reductions import ADD
from collectives.tools.protocol import Comm

ALLTOALL = alltoall_pairwise
WEIGHT = 8
"""Bytes of the weight of an item."""


def sort_lists(
    comm: Comm,
    items: Sequence[bytes],
    sizes: Sequence[int],
    width: int,
    *,
    order: SortKey,
    work: WorkCallback,
    alltoall: Algorithm,
    tag: int,
) -> list[bytes]:
    """Merge the sorted lists of all processes; process k returns the k-th part, `sizes[k]` items. All items are distinct."""
    size, rank = comm.Get_size(), comm.Get_rank()
    splitters = find_splitters(comm, items, sizes, width, order=order, work=work, alltoall=alltoall, tag=tag)
    counts = np.diff(splitters)
    incoming = np.empty(size, np.int64)
    alltoall.run(comm, counts, incoming, tag=tag)
    block = np.frombuffer(b"".join(items), np.uint8)
    into = np.empty(sizes[rank] * width, np.uint8)
    alltoallv_pairwise.run(comm, block, into, [int(n) * width for n in counts], [int(n) * width for n in incoming], tag=tag)
    received, ends = split_items(into, width), np.cumsum(incoming)
    runs = [received[int(end - count) : int(end)] for end, count in zip(ends, incoming, strict=True) if count]
    return merge(*runs, order=order, work=work)


def find_splitters(
    comm: Comm,
    items: Sequence[bytes],
    sizes: Sequence[int],
    width: int,
    *,
    order: SortKey,
    work: WorkCallback,
    alltoall: Algorithm,
    tag: int,
) -> Any:
    """Return the splitters in this process's list: process k gets the items from splitter k to splitter k+1."""
    size, rank = comm.Get_size(), comm.Get_rank()
    ranked = items if order is None else [order(item) for item in items]
    targets = np.cumsum(np.array([0, *sizes[:-1]], np.int64))
    low, high = np.zeros(size, np.int64), np.full(size, len(items), np.int64)
    low[0] = high[0] = 0
    unresolved = np.arange(size) > 0
    record = WEIGHT + width
    while unresolved.any():
        # 1. Send the middle item of the range of splitter k to process k.
        out, into = np.zeros((size, record), np.uint8), np.empty((size, record), np.uint8)
        for k in np.flatnonzero(unresolved & (high > low)):
            out[k, :WEIGHT].view(np.int64)[0] = high[k] - low[k]
            out[k, WEIGHT:] = np.frombuffer(items[int(low[k] + high[k]) // 2], np.uint8)
        alltoall.run(comm, out.reshape(-1), into.reshape(-1), tag=tag)
        # 2. Process k computes the weighted median; an allgather distributes all medians.
        median = np.zeros(width, np.uint8)
        if unresolved[rank]:
            median = np.frombuffer(weighted_median(into, order), np.uint8)
        medians = np.empty(size * width, np.uint8)
        allgather_bruck.run(comm, median, medians, tag=tag)
        # 3. Count the items below each median on all processes.
        below = np.zeros(size, np.int64)
        for k in np.flatnonzero(unresolved):
            bound = medians[k * width : (k + 1) * width].tobytes()
            below[k] = bisect_left(ranked, bound if order is None else order(bound))
        total = np.empty(size, np.int64)
        allreduce_recursive_doubling.run(comm, below, total, op=ADD, tag=tag)
        # 4. Keep the part of each range that contains the splitter.
        if work is not None:
            work(int(unresolved.sum()) * (len(items).bit_length() + 1))
        for k in np.flatnonzero(unresolved):
            cut_at, bound = int(below[k]), medians[k * width : (k + 1) * width].tobytes()
            if total[k] < targets[k]:
                low[k] = cut_at + (cut_at < len(items) and items[cut_at] == bound)
            else:
                high[k] = cut_at
                if total[k] == targets[k]:
                    low[k] = cut_at
        unresolved &= total != targets
    return np.append(low, len(items))


def weighted_median(rows: Any, order: SortKey) -> bytes:
    """Return the weighted median of rows (weight, item): the first item at which the sum of weights reaches one half."""
    pairs: list[tuple[bytes, int]] = [(row[WEIGHT:].tobytes(), int(row[:WEIGHT].view(np.int64)[0])) for row in rows]
    pairs = [pair for pair in pairs if pair[1]]
    pairs.sort(key=lambda pair: pair[0] if order is None else order(pair[0]))
    half, total = sum(weight for _, weight in pairs) / 2, 0
    for item, weight in pairs:
        total += weight
        if total >= half:
            return item
    raise AssertionError("internal error: no process has a range left for this splitter")
