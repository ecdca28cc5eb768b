"""Split a chain into one chain per bin, by one double exclusive scan of a table.

For each bin the table has the address of the nearest member in one direction, and the number of members. The tables from
the left and from the right give each process its neighbors, its rank and the size of its bin's chain. This is Fig. 2 of
Moody et al. 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from collectives.chain.chain import NO_RANK, Chain
from collectives.chain.meter import ItemMeter
from collectives.chain.scan import Array, ScanMessage, run_rounds

TABLES = 4
"""Tables that a scan holds: one per direction, which is also the message sent, and two receive buffers."""


def split_by_bin(chain: Chain, own_bin: int | None, bins: int, meter: ItemMeter) -> tuple[Chain | None, Array]:
    """Return the chain of the processes with the same bin, in their order, and the size of each bin.

    The chain is None for a process without a bin.
    """
    meter.take(TABLES * bins)
    before, after = BinTable(chain.address, own_bin, bins), BinTable(chain.address, own_bin, bins)
    run_rounds(chain, before.message, after.message, before.add, after.add)
    totals = before.counts + after.counts
    meter.drop(TABLES * bins)
    if own_bin is None:
        return None, totals
    totals[own_bin] -= 1  # this process is counted in both tables
    rank = int(before.counts[own_bin]) - 1
    return Chain(chain.comm, rank, int(totals[own_bin]), chain.address, before.next, after.next, chain.tag), totals


class BinTable:
    """The nearest members and the sizes of all bins on one side of the chain, including this process."""

    __slots__ = ("counts", "message", "next", "nexts", "own", "unknown")

    def __init__(self, address: int, own: int | None, bins: int) -> None:
        self.message = ScanMessage(np.empty((2, bins), np.int32))
        self.nexts, self.counts = self.message.value
        self.nexts.fill(NO_RANK)
        self.counts.fill(0)
        self.unknown = np.empty(bins, bool)
        self.own, self.next = own, NO_RANK  # next: the neighbor in the same bin; in the table, this process replaces it
        if own is not None:
            self.nexts[own], self.counts[own] = address, 1

    def add(self, value: Any) -> None:
        """Add the table of processes farther away."""
        nexts, counts = value
        if self.next < 0 and self.own is not None:
            self.next = int(nexts[self.own])
        np.less(self.nexts, ZERO, self.unknown)
        np.copyto(self.nexts, nexts, where=self.unknown)
        np.add(self.counts, counts, self.counts)


ZERO = np.int32(0)  # a comparison with a Python int takes three times as long
