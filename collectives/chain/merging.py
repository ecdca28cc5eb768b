"""Items that are gathered up a tree and kept in order on the way."""

from __future__ import annotations

from typing import Any

import numpy as np

from collectives.chain.items import Order
from collectives.chain.meter import Meter, Work
from collectives.chain.tree import Branch


class Gathered:
    """The items of a process and of all below it that have sent theirs, in order."""

    def __init__(self, item: bytes, order: Order, work: Work, meter: Meter) -> None:
        self.items = [item]
        self.width, self.order, self.work, self.meter = len(item), order, work, meter
        meter.take(1)

    def give(self) -> Any:
        """All of them as an array of bytes."""
        return np.frombuffer(b"".join(self.items), np.uint8)

    def take(self, child: Branch, block: Any) -> None:
        """Merge a child's, which are in order."""
        self.meter.take(child.size)
        self.items = merged(self.items, cut(block, self.width), order=self.order, work=self.work)

    def forget(self) -> None:
        """Let go of them."""
        self.meter.drop(len(self.items))


def cut(block: Any, width: int) -> list[bytes]:
    """The items of an array of bytes."""
    data = block.tobytes()
    return [data[start : start + width] for start in range(0, len(data), width)]


def merged(*runs: list[bytes], order: Order, work: Work) -> list[bytes]:
    """Items in order, of runs in order: Python's sort finds the runs, and a merge of two takes linear time.

    `work` is told of as many moves as merging them two by two takes.
    """
    items = sorted((item for run in runs for item in run), key=order)
    if work is not None:
        work(len(items) * max(1, (len(runs) - 1).bit_length()))
    return items
