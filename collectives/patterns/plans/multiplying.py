"""Recursive multiplying: exchanges in groups of up to k ranks instead of pairs; shared by allgather and allreduce.

Let j k^d with 1 <= j < k be the largest such number that is at most p. That number of ranks remain, and the other ranks are
folded (`folding`): there are fewer than k^d of them, so each has a separate neighbor that remains. The indices of the
remaining ranks are numbers with d digits in base k and a highest digit below j. In a phase of width w = 1, k, k^2, ... the
ranks exchange data whose indices differ only in the digit of value w. In step i = 1, 2, ... of the phase a rank sends to the
rank whose digit is larger by i, and receives from the rank whose digit is smaller by i, cyclically.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from collectives.catalogue.algorithm import Case
from collectives.catalogue.array_round import Ints
from collectives.patterns.folding import Fold
from collectives.patterns.plans.array_plans import Plan, PlanRound, sums_of_runs
from collectives.patterns.plans.block_plans import BlockExchange

RADIX = 4
"""Default of k, the largest number of ranks in a group."""


class DigitExchange(NamedTuple):
    """An exchange between the `size` indices that differ in the digit of value `width`."""

    width: int
    size: int

    def peer(self, index: int, shift: int) -> int:
        """The index in the same group whose digit differs by `shift`, cyclically.

        >>> [DigitExchange(2, 3).peer(index, 1) for index in range(6)]
        [2, 3, 4, 5, 0, 1]
        """
        digit = index // self.width % self.size
        return index + ((digit + shift) % self.size - digit) * self.width


def radix_of(case: Case) -> int:
    """The parameter k of a case."""
    return int(case.parameters.get("k", RADIX))


def phases(p: int, k: int) -> list[DigitExchange]:
    """The phases of p ranks; the product of their sizes is the number of ranks that remain.

    >>> phases(13, 3), phases(1, 4)
    ([DigitExchange(width=1, size=3), DigitExchange(width=3, size=3)], [])
    >>> phases(8, 4)
    [DigitExchange(width=1, size=4), DigitExchange(width=4, size=2)]
    """
    result, width = [], 1
    while width * 2 <= p:
        size = min(k, p // width)
        result.append(DigitExchange(width, size))
        width *= size
    return result


def folded(p: int, k: int) -> Fold:
    """The ranks that remain, and their neighbors."""
    last = [DigitExchange(1, 1), *phases(p, k)][-1]
    return Fold(p, core=last.width * last.size)


def multiplying_steps(p: int, k: int, rank: int) -> list[BlockExchange]:
    """The steps of a rank in an allgather (`block_plans`); the blocks of a message belong to consecutive ranks.

    >>> [(step.dest, step.sent, step.received) for step in multiplying_steps(3, 3, 0)]
    [(0, (), ()), (1, (0,), (2,)), (2, (0,), (1,)), (0, (), ())]
    """
    return list(_steps(p, phases(p, k), folded(p, k), rank))


def nobody_folded(case: Case) -> bool:
    """Whether all ranks remain, so that all send the same number of blocks."""
    return folded(case.p, radix_of(case)).excess == 0


def _steps(p: int, stages: list[DigitExchange], fold: Fold, rank: int) -> Iterator[BlockExchange]:
    neighbor, stays, index = fold.neighbor(rank), fold.stays(rank), fold.index(rank)
    idle = BlockExchange(rank, (), rank, ())
    others = tuple(block for block in range(p) if block != (rank if not stays else neighbor))
    if neighbor is None:
        yield idle
    else:
        yield BlockExchange(neighbor, (), neighbor, (neighbor,)) if stays else BlockExchange(neighbor, (rank,), neighbor, ())
    for phase in stages:
        for shift in range(1, phase.size):
            if not stays:
                yield idle
                continue
            dest, source = phase.peer(index, shift), phase.peer(index, -shift)
            starts = (v - v % phase.width for v in (index, source))
            own, theirs = (tuple(range(*fold.ranks(start, start + phase.width))) for start in starts)
            yield BlockExchange(fold.rank(dest), own, fold.rank(source), theirs)
    if neighbor is None:
        yield idle
    else:
        yield BlockExchange(neighbor, others, neighbor, ()) if stays else BlockExchange(neighbor, (), neighbor, others)


def multiplying_rounds(p: int, k: int) -> list[PlanRound]:
    """The rounds of all ranks, in arrays."""
    fold = folded(p, k)
    exchanges = [partial(_exchange, fold, phase, shift) for phase in phases(p, k) for shift in range(1, phase.size)]
    return [partial(_fold_in, fold), *exchanges, partial(_fold_out, fold)]


def _fold_in(fold: Fold, sizes: Ints) -> tuple[Ints, Ints]:
    dest, nbytes = np.arange(len(sizes)), np.zeros_like(sizes)
    sends = slice(1, 2 * fold.excess, 2)
    dest[sends] -= 1
    nbytes[sends] = sizes[sends]
    return dest, nbytes


def _exchange(fold: Fold, phase: DigitExchange, shift: int, sizes: Ints) -> tuple[Ints, Ints]:
    index = np.arange(fold.core)
    digit = index // phase.width % phase.size
    peer = index + ((digit + shift) % phase.size - digit) * phase.width
    first = index - index % phase.width
    ranks, firsts, ends = (each + np.minimum(each, fold.excess) for each in (index, first, first + phase.width))
    dest, nbytes = np.arange(len(sizes)), np.zeros_like(sizes)
    dest[ranks] = peer + np.minimum(peer, fold.excess)
    nbytes[ranks] = sums_of_runs(sizes, firsts, ends)
    return dest, nbytes


def _fold_out(fold: Fold, sizes: Ints) -> tuple[Ints, Ints]:
    dest, nbytes = np.arange(len(sizes)), np.zeros_like(sizes)
    sends = slice(0, 2 * fold.excess, 2)
    dest[sends] += 1
    nbytes[sends] = sizes.sum() - sizes[1 : 2 * fold.excess : 2]
    return dest, nbytes


def _steps_with(p: int, rank: int, *, k: int = RADIX) -> list[BlockExchange]:
    return multiplying_steps(p, k, rank)


multiplying_plan: Final = Plan(_steps_with, multiplying_rounds)
"""The plan with groups of up to k ranks."""
