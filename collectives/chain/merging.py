"""Items that are merged in sorted order on the way up a tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from collectives.chain.items import SortKey
from collectives.chain.meter import ItemMeter, WorkCallback
from collectives.chain.tree import Subtree


class GatheredItems:
    """The items of a process and of its subtrees received so far, sorted."""

    def __init__(self, item: bytes, order: SortKey, work: WorkCallback, meter: ItemMeter) -> None:
        self.items = [item]
        self.width, self.order, self.work, self.meter = len(item), order, work, meter
        meter.take(1)

    def payload(self) -> Any:
        """Return all items as one array of bytes."""
        return np.frombuffer(b"".join(self.items), np.uint8)

    def add_child(self, child: Subtree, block: Any) -> None:
        """Merge the sorted items of a child."""
        self.meter.take(child.size)
        self.items = merge(self.items, split_items(block, self.width), order=self.order, work=self.work)

    def release(self) -> None:
        """Report the release of the items to the meter."""
        self.meter.drop(len(self.items))


def split_items(block: Any, width: int) -> list[bytes]:
    """Return the items of an array of bytes."""
    data = block.tobytes()
    return [data[start : start + width] for start in range(0, len(data), width)]


def merge(*runs: list[bytes], order: SortKey, work: WorkCallback) -> list[bytes]:
    """Return the items of sorted runs, sorted. Python's sort detects the runs and merges two of them in linear time.

    `work` is called with the number of moves of pairwise merging.
    """
    items = sorted((item for run in runs for item in run), key=order)
    if work is not None:
        work(len(items) * max(1, (len(runs) - 1).bit_length()))
    return items
