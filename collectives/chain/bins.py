"""A chain split into one chain for each of a few bins, by one double exclusive scan of a table.

For each bin the table says who of it is next in that direction, and how many of it there are. What has come from the
left and the right tells each process its neighbours, its rank and the size of its own bin's chain. Fig. 2 of Moody et
al. 2011.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from collectives.chain.chain import NOBODY, Chain
from collectives.chain.meter import Meter
from collectives.chain.scan import Array, walk


def split_by_bin(chain: Chain, own: int | None, bins: int, meter: Meter) -> tuple[Chain | None, Array]:
    """The chain of those with the same bin, in the order that they have; None for one that has no bin.

    And how many there are in each bin.
    """
    before, after = _scan_table(chain, own, bins, meter)
    totals = before[1] + after[1]
    if own is None:
        return None, totals
    totals[own] += 1
    left, rank = (int(one) for one in before[:, own])
    part = Chain(chain.comm, rank, int(totals[own]), chain.address, left, int(after[0, own]), chain.tag)
    return part, totals


def _scan_table(chain: Chain, own: int | None, bins: int, meter: Meter) -> tuple[Any, Any]:
    """What is to the left and what is to the right, without this process."""
    meter.take(6 * bins)
    before, after = _empty(bins), _empty(bins)
    rightward, leftward = before.copy(), after.copy()
    for table in (rightward, leftward):
        if own is not None:
            table[0, own], table[1, own] = chain.address, 1
    heard_left, heard_right = _adder(before, rightward, own), _adder(after, leftward, own)
    walk(chain, rightward, leftward, heard_left, heard_right)
    meter.drop(6 * bins)
    return before, after


def _empty(bins: int) -> Any:
    table = np.zeros((2, bins), np.int32)
    table[0] = NOBODY
    return table


def _adder(table: Any, passed_on: Any, own: int | None) -> Callable[[Any], None]:
    """Adds to a table what is farther away in its direction; what is passed on has the own one in front."""
    next_ones, counts = table
    unknown = np.empty(len(counts), bool)
    zero = np.int32(0)  # a number of numpy's, and results into their place: this takes 2/3 of the time
    address = None if own is None else passed_on[0, own]

    def heard(value: Any) -> None:
        np.less(next_ones, zero, unknown)
        np.copyto(next_ones, value[0], where=unknown)
        np.add(counts, value[1], counts)
        passed_on[...] = table
        if own is not None:
            passed_on[0, own] = address
            passed_on[1, own] += 1

    return heard
