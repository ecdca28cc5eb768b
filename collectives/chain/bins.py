"""A chain split into one chain for each of a few bins, by one double exclusive scan of a table.

For each bin the table says who of it is next in that direction, and how many of it there are. What has come from the
left and the right tells each process its neighbours, its rank and the size of its own bin's chain. Fig. 2 of Moody et
al. 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collectives.chain.chain import NOBODY, Chain
from collectives.chain.meter import Meter
from collectives.chain.scan import Array, Letter, walk

TABLES = 4
"""What a scan holds: what is known of either side, which is also what is sent, and room for two that come."""


def split_by_bin(chain: Chain, own: int | None, bins: int, meter: Meter) -> tuple[Chain | None, Array]:
    """The chain of those with the same bin, in the order that they have; None for one that has no bin.

    And how many there are in each bin.
    """
    meter.take(TABLES * bins)
    before, after = Side(chain.address, own, bins), Side(chain.address, own, bins)
    walk(chain, before.letter, after.letter, before.hear, after.hear)
    totals = before.counts + after.counts
    meter.drop(TABLES * bins)
    if own is None:
        return None, totals
    totals[own] -= 1  # it is in both
    rank = int(before.counts[own]) - 1
    return Chain(chain.comm, rank, int(totals[own]), chain.address, before.next, after.next, chain.tag), totals


class Side:
    """What is known of one side of the chain, this process included: it is what is passed on to the other side."""

    __slots__ = ("counts", "letter", "next", "nexts", "own", "unknown")

    def __init__(self, address: int, own: int | None, bins: int) -> None:
        self.letter = Letter(np.empty((2, bins), np.int32))
        self.nexts, self.counts = self.letter.value
        self.nexts.fill(NOBODY)
        self.counts.fill(0)
        self.unknown = np.empty(bins, bool)
        self.own, self.next = own, NOBODY  # the next one of the own bin: its place in the table is taken
        if own is not None:
            self.nexts[own], self.counts[own] = address, 1

    def hear(self, value: Any) -> None:
        """Add what is farther away."""
        nexts, counts = value
        if self.next < 0 and self.own is not None:
            self.next = int(nexts[self.own])
        np.less(self.nexts, ZERO, self.unknown)
        np.copyto(self.nexts, nexts, where=self.unknown)
        np.add(self.counts, counts, self.counts)


ZERO = np.int32(0)  # a number of numpy's own: a comparison with one of Python's takes three times as long
