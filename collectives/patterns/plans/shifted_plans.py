"""Plans of `block_plans` in which all ranks take the same steps relative to their rank: Sparbit, PAT, Trivance.

A shift is one round of such a plan: a skip and a list of offsets. For every offset y, rank r sends block r + y (mod p) to
rank r - skip and receives block r + skip + y (mod p) from rank r + skip. Rank r must already hold the blocks that it sends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Final, NamedTuple

import numpy as np

from collectives.catalogue.array_round import Ints
from collectives.catalogue.conditions import positive
from collectives.patterns.plans.array_plans import Plan, PlanRound, shifted_sums
from collectives.patterns.plans.block_plans import BlockExchange
from collectives.tools.numbers import ceil_log2


class Shift(NamedTuple):
    """One round: rank r sends the blocks r + y to rank r - skip, for every offset y (mod p)."""

    skip: int
    offsets: tuple[int, ...]


def shifted_steps(shifts: Sequence[Shift], rank: int, p: int) -> list[BlockExchange]:
    return [
        BlockExchange(
            (rank - skip) % p,
            tuple(sorted((rank + y) % p for y in offsets)),
            (rank + skip) % p,
            tuple(sorted((rank + skip + y) % p for y in offsets)),
        )
        for skip, offsets in shifts
    ]


def shifted_rounds(shifts: Sequence[Shift]) -> list[PlanRound]:
    """The rounds of all ranks, in arrays."""
    return [partial(_messages, shift) for shift in shifts]


def _messages(shift: Shift, sizes: Ints) -> tuple[Ints, Ints]:
    p = len(sizes)
    return (np.arange(p) - shift.skip) % p, shifted_sums(sizes, shift.offsets)


def spreading(skips: Iterable[Sequence[int]], p: int) -> list[Shift]:
    """Return shifts with these skips, in each of which a rank sends all blocks that it has and the receiver lacks.

    `skips` is a list of groups. The shifts of a group can take place at the same time: no block that arrives in one of them
    is sent in another.

    >>> spreading([[-2], [-1]], 4)
    [Shift(skip=-2, offsets=(0,)), Shift(skip=-1, offsets=(0, 2))]
    """
    held = [0]  # offsets of the blocks that a rank holds
    shifts = []
    for group in skips:
        held_before = tuple(held)
        for skip in group:
            held_now = set(held)
            offsets = tuple(y for y in held_before if (skip + y) % p not in held_now)
            if offsets:
                shifts.append(Shift(skip, offsets))
                held += [(skip + y) % p for y in offsets]
    return shifts


@lru_cache(maxsize=64)
def sparbit_shifts(p: int) -> list[Shift]:
    """The shifts of Sparbit: powers of two, the largest first.

    >>> [(shift.skip, len(shift.offsets)) for shift in sparbit_shifts(6)]
    [(-4, 1), (-2, 1), (-1, 3)]
    """
    return spreading([[-1 << k] for k in reversed(range(ceil_log2(p)))], p)


@lru_cache(maxsize=64)
def trivance_shifts(p: int) -> list[Shift]:
    """The shifts of Trivance: powers of three in both directions, the largest first.

    >>> [(shift.skip, len(shift.offsets)) for shift in trivance_shifts(9)]
    [(3, 1), (-3, 1), (1, 3), (-1, 3)]
    """
    powers = [1]
    while powers[-1] * 3 < p:
        powers.append(powers[-1] * 3)
    return spreading([[power, -power] for power in reversed(powers)], p) if p > 1 else []


@lru_cache(maxsize=64)
def pat_shifts(p: int, aggregation: int) -> list[Shift]:
    """The shifts of PAT: messages of at most `aggregation` blocks.

    First, the longest skips send each block to the roots of subtrees, at most `aggregation` of them. Then the block travels
    down all subtrees at the same time, depth first, along one edge of each subtree per round.

    >>> [(shift.skip, len(shift.offsets)) for shift in pat_shifts(8, 2)]
    [(-4, 1), (-2, 2), (-1, 2), (-1, 2)]
    """
    width = 1 << ceil_log2(p)
    shifts = []
    roots = [0]  # of the subtrees, as distances from the block's owner
    while width > 1 and 2 * len(roots) <= aggregation:
        width //= 2
        offsets = tuple(y for y in roots if y + width < p)
        shifts.append(Shift(-width, offsets))
        roots += [y + width for y in offsets]

    def descend(position: int, span: int) -> None:
        """Traverse the edges below `position` in each subtree, which lead to fewer than `span` ranks, the longest first."""
        while span > 1:
            span //= 2
            offsets = tuple(y + position for y in roots if y + position + span < p)
            if offsets:
                shifts.append(Shift(-span, offsets))
                descend(position + span, span)

    descend(0, width)
    return [Shift(skip, tuple(-y for y in offsets)) for skip, offsets in shifts]


AGGREGATION = 8
"""Default of `aggregation`, the largest number of blocks in a message of PAT."""


positive_aggregation_only: Final = positive("aggregation")


def _pat_steps(p: int, rank: int, *, aggregation: int = AGGREGATION) -> list[BlockExchange]:
    return shifted_steps(pat_shifts(p, aggregation), rank, p)


pat_plan: Final = Plan(_pat_steps, lambda p, aggregation: shifted_rounds(pat_shifts(p, aggregation)))
"""The plan of PAT."""

sparbit_plan: Final = Plan(
    lambda p, rank: shifted_steps(sparbit_shifts(p), rank, p), lambda p: shifted_rounds(sparbit_shifts(p))
)
"""The plan of Sparbit."""

trivance_plan: Final = Plan(
    lambda p, rank: shifted_steps(trivance_shifts(p), rank, p), lambda p: shifted_rounds(trivance_shifts(p))
)
"""The plan of Trivance."""
