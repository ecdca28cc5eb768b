"""Plans in arrays: the messages of all ranks in a round, by their sizes and without a list of the blocks in each message.

The blocks of all messages of a plan are p (p-1) numbers, on 65,536 ranks more than the memory of most machines. A schedule
needs only the size of a message: the sum of the sizes of its blocks. These sums are computed for all ranks at once, because
the sets of blocks of different ranks are shifted copies of each other, or runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from collectives.catalogue.array_round import ArrayRound, Ints, nonempty_round
from collectives.catalogue.schedule import Round
from collectives.patterns.plans.block_plans import BlockExchanges
from collectives.tools.blocks import Layout

PlanRound: TypeAlias = Callable[[Ints], tuple[Ints, Ints]]
"""One round of a plan: for the bytes of each block, the destination of each rank and the bytes that the rank sends."""


class Plan(NamedTuple):
    """A plan: the steps of a rank, (p, rank, **parameters), and the rounds of all ranks, (p, **parameters)."""

    steps: Callable[..., BlockExchanges]
    rounds: Callable[..., Sequence[PlanRound]]


def sizes_of(layout: Layout, itemsize: int) -> Ints:
    """The bytes of each block.

    >>> sizes_of(Layout.nearly_equal(5, 3), 4).tolist()
    [8, 8, 4]
    """
    return np.diff([layout.start(i) for i in range(layout.p + 1)]).astype(np.int64) * itemsize


def gather_rounds(rounds: Sequence[PlanRound], sizes: Ints) -> Iterator[Round]:
    """The schedule of `block_plans.gather_planned`."""
    for messages in rounds:
        yield nonempty_round(np.arange(len(sizes)), *messages(sizes))


def reduce_rounds(rounds: Sequence[PlanRound], sizes: Ints) -> Iterator[Round]:
    """The schedule of `block_plans.reduce_planned` and `reduce_bounded`: a rank combines all data that it receives."""
    for messages in reversed(rounds):
        dest, nbytes = messages(sizes)
        received_from = np.full(len(sizes), -1)
        senders = np.flatnonzero(nbytes)
        received_from[dest[senders]] = senders  # in the allgather; the reduction sends in the opposite direction
        ranks = np.flatnonzero(received_from >= 0)
        partners = received_from[ranks]
        yield ArrayRound(ranks, partners, nbytes[partners], nbytes[partners])


def sums_of_runs(sizes: Ints, first: Ints, end: Ints) -> Ints:
    """The bytes of the blocks first .. end - 1, for arrays of both.

    >>> sums_of_runs(np.array([1, 2, 4]), np.array([0, 1, 2]), np.array([2, 3, 2])).tolist()
    [3, 6, 0]
    """
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return starts[end] - starts[first]


def shifted_sums(sizes: Ints, offsets: Sequence[int]) -> Ints:
    """For each rank r, the bytes of the blocks r + y (mod p), for every offset y. No two offsets are equal (mod p).

    The time is proportional to p times the number of offsets, or of runs of equal blocks if that is smaller.

    >>> shifted_sums(np.array([1, 2, 4, 8]), (0, -1)).tolist()
    [9, 3, 6, 12]
    >>> shifted_sums(np.array([2, 2, 2, 1]), (0, -1)).tolist()
    [3, 4, 4, 3]
    """
    p = len(sizes)
    firsts = [0, *(np.flatnonzero(np.diff(sizes)) + 1).tolist(), p]  # of runs of equal blocks
    if len(firsts) == 2:
        return np.full(p, len(offsets) * sizes[0])
    result = np.zeros(p, np.int64)
    if len(offsets) <= len(firsts):
        twice = np.concatenate((sizes, sizes))
        for y in offsets:
            result += twice[y % p : y % p + p]
        return result
    found = np.zeros(2 * p + 1, np.int64)
    places = np.array(offsets) % p + 1
    found[places] = found[places + p] = 1
    before = np.cumsum(found)  # the number of offsets below a number, from 0 to 2 p
    for first, end in itertools.pairwise(firsts):
        start = (first - np.arange(p)) % p  # of the run, as an offset of each rank
        result += sizes[first] * (before[start + (end - first)] - before[start])
    return result


def mirrored_sums(sizes: Ints, offsets: Sequence[int]) -> Ints:
    """For each coordinate x, the bytes of the blocks x + y if x is even and x - y if it is odd, for every offset y.

    >>> mirrored_sums(np.array([1, 2, 4, 8]), (0, 1)).tolist()
    [3, 3, 12, 12]
    """
    sums, mirrored = shifted_sums(sizes, offsets), shifted_sums(sizes, [-y for y in offsets])
    sums[1::2] = mirrored[1::2]
    return sums
