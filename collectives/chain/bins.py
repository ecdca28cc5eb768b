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
    meter.take(6 * bins)
    before, after = _empty(bins), _empty(bins)
    rightward, leftward = before.copy(), after.copy()

    def add_own(table: Any) -> None:
        if own is not None:
            table[0, own] = chain.address
            table[1, own] += 1

    def heard_left(value: Any) -> None:
        _behind(before, value)
        rightward[...] = before
        add_own(rightward)

    def heard_right(value: Any) -> None:
        _behind(after, value)
        leftward[...] = after
        add_own(leftward)

    add_own(rightward)
    add_own(leftward)
    walk(chain, rightward, leftward, heard_left, heard_right)
    meter.drop(6 * bins)
    return before, after


def _empty(bins: int) -> Any:
    table = np.zeros((2, bins), np.int32)
    table[0] = NOBODY
    return table


def _behind(near: Any, far: Any) -> None:
    """Add to a table what is farther away in its direction."""
    np.copyto(near[0], far[0], where=near[0] < 0)
    near[1] += far[1]
