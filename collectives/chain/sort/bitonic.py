"""Sort by Batcher's bitonic network, on any number of processes: in each step pairs exchange items and keep one each.

To sort n items: sort the first n//2 in one direction and the others in the other direction, then merge. To merge n items,
with s the largest power of two below n: compare i with i+s for every i with i+s < n, then merge the first s and the
others separately. All distances are powers of two; a `Logchain` provides the addresses.

    p = 4     step 1     step 2     step 3
              0 - 1      0 - 2      0 - 1      the smaller item of 0 and 2 goes to 0; in step 1 the smaller
              2 - 3      1 - 3      2 - 3      of 0 and 1 goes to 1: the first half is sorted in descending order

Rounds   2 d + d (d+1) / 2, d = log2 p    Sent per rank   at most d (d+1) / 2 m + 16 d    Scratch   O(log p)
Time     computed from the schedule; if p is a power of two 2 d (t_s + 8 t_w) + d (d+1) / 2 (t_s + m t_w)
Fits     any p; items of m bytes
Best     many processes: O(log^2 p) time, O(log p) memory
Source   Batcher, Sorting Networks and Their Applications, AFIPS Spring Joint Computer Conference 32 (1968); on a chain:
         Moody, Ahn, de Supinski, Exascale Algorithms for Generalized MPI_Comm_split, EuroMPI 2011
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TypeAlias

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Seconds, Transfer, message
from collectives.chain.chain import Chain
from collectives.chain.derived_chains import Logchain
from collectives.chain.items import SortKey
from collectives.chain.meter import NO_METER, ItemMeter, WorkCallback
from collectives.chain.schedules import scan_rounds
from collectives.tools.numbers import ceil_log2, floor_log2, is_power_of_two


def steps(rank: int, size: int) -> Iterator[tuple[int, bool]]:
    """Yield a rank's steps: the distance of its partner (negative to the left), and whether it keeps the smaller item."""
    halves = []
    first, count, ascending = 0, size, True
    while count > 1:
        halves.append((first, count, ascending))
        half = count // 2
        if rank < first + half:
            count, ascending = half, not ascending
        else:
            first, count = first + half, count - half
    for first, count, ascending in reversed(halves):
        while count > 1:
            step = 1 << (count - 1).bit_length() - 1
            if rank < first + step:
                if rank < first + count - step:
                    yield step, ascending
                count = step
            else:
                yield -step, not ascending
                first, count = first + step, count - step


def schedule(case: Case) -> Iterator[Round]:
    yield from scan_rounds(case.p, 0)
    for pairs in network(0, case.p):
        yield [Transfer(a, b, case.m) for pair in pairs for a, b in (pair, pair[::-1])]


Pairs: TypeAlias = list[tuple[int, int]]
EMPTY: Pairs = []


def network(first: int, count: int) -> list[Pairs]:
    """Return all pairs of the network by step; the two halves run in parallel."""
    if count < 2:
        return []
    half = count // 2
    both = zip_longest(network(first, half), network(first + half, count - half), fillvalue=EMPTY)
    return [[*one, *other] for one, other in both] + merging(first, count)


def merging(first: int, count: int) -> list[Pairs]:
    """Return the pairs of a merge by step."""
    if count < 2:
        return []
    step = 1 << ceil_log2(count) - 1
    pairs = [(i, i + step) for i in range(first, first + count - step)]
    both = zip_longest(merging(first, step), merging(first + step, count - step), fillvalue=EMPTY)
    return [pairs, *([*one, *other] for one, other in both)]


def closed_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    if not is_power_of_two(case.p) or not case.m:
        return None
    d = floor_log2(case.p)
    return 2 * d * message(8, t_s, t_w) + d * (d + 1) // 2 * message(case.m, t_s, t_w)


def holds(case: Case) -> int:
    return 2 + 2 * ceil_log2(case.p)


@algorithm(schedule=schedule, closed_time=closed_time, holds=holds)
def sort_bitonic(
    chain: Chain, item: bytes, *, order: SortKey = None, work: WorkCallback = None, meter: ItemMeter = NO_METER
) -> bytes:
    """Return the item of this rank in sorted order; all items have equal lengths. Calls `work(1)` for each comparison."""
    logchain = Logchain.of(chain)
    lefts, rights = logchain.lefts, logchain.rights
    held = 2 + len(lefts) + len(rights)
    meter.take(held)
    exchange, tag = chain.comm.Sendrecv, chain.tag
    mine, other = np.frombuffer(bytearray(item), np.uint8), np.empty(len(item), np.uint8)
    own = item if order is None else order(item)
    for distance, keeps_smaller in steps(chain.rank, chain.size):
        if distance > 0:
            partner = rights[distance.bit_length() - 1]
        else:
            partner = lefts[(-distance).bit_length() - 1]
        exchange(mine, partner, tag, other, partner, tag)
        theirs = other.tobytes() if order is None else order(other.tobytes())
        if (theirs < own) is keeps_smaller:
            mine, other, own = other, mine, theirs
        if work is not None:
            work(1)
    meter.drop(held)
    return mine.tobytes()
