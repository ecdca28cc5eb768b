"""Chains that know more, and chains that know less: the logchain, the ring, every n-th of a chain, neighbours alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from collectives.chain.chain import NOBODY, Chain
from collectives.chain.scan import Letter, double_scan, walk
from collectives.tools.protocol import Comm


@dataclass(frozen=True)
class Logchain:
    """The processes 2^d hops to the left and to the right, for all d: O(log N) addresses."""

    lefts: list[int]
    rights: list[int]

    @classmethod
    def of(cls, chain: Chain) -> Logchain:
        """Found in ceil(log2 N) rounds that carry addresses alone."""
        lefts: list[int] = []
        rights: list[int] = []

        def met(left: int, right: int) -> None:
            lefts.append(left)
            rights.append(right)

        nothing = Letter(np.empty(0, np.uint8)), Letter(np.empty(0, np.uint8))
        walk(chain, *nothing, None, None, met)  # addresses alone are passed on
        return cls(lefts, rights)


@dataclass(frozen=True)
class Ring:
    """A chain whose two ends know each other: everybody has a left and a right neighbour, in a ring of one itself."""

    chain: Chain
    left: int
    right: int

    @classmethod
    def of(cls, chain: Chain) -> Ring:
        """One double scan takes the first one's address to the last and the last one's to the first."""
        own = np.array([chain.address], np.int64)
        first, last = double_scan(chain, own, own, lambda a, b: a, lambda a, b: b)
        left = int(last[0]) if chain.left == NOBODY else chain.left
        right = int(first[0]) if chain.right == NOBODY else chain.right
        return cls(chain, left, right)

    def turned(self, first: int) -> Chain:
        """The chain that begins with the present rank `first`; no message is sent."""
        chain = self.chain
        rank = (chain.rank - first) % chain.size
        left = NOBODY if rank == 0 else self.left
        right = NOBODY if rank == chain.size - 1 else self.right
        return Chain(chain.comm, rank, chain.size, chain.address, left, right, chain.tag)


def linked(comm: Comm, left: int, right: int, tag: int = 0) -> Chain:
    """The chain that neighbours make who know each other and no more: one double scan counts those on either side.

    `left` and `right` are ranks of `comm`, or NOBODY. Everybody's right neighbour must have it as its left neighbour.
    """
    address = comm.Get_rank()
    # What this side of the chain does not know yet is never looked at: a scan needs nothing but the neighbours.
    size = 1 + (left != NOBODY) + (right != NOBODY)
    unnumbered = Chain(comm, int(left != NOBODY), size, address, left, right, tag)
    one = np.ones(1, np.int64)
    before, after = double_scan(unnumbered, one, one, lambda a, b: a + b)
    rank = int(before[0]) - 1
    return Chain(comm, rank, rank + int(after[0]), address, left, right, tag)


def every(chain: Chain, step: int) -> Chain:
    """The chain of those that are a multiple of `step` ranks away: the chain is dealt out, in turn, to `step` chains.

    One double scan finds the neighbours. In round i, if bit i of `step` is set, everybody takes what its partner knows: the
    address that is as far from the partner as the lower bits say is 2^i farther from here.
    """
    if step < 1:
        raise ValueError(f"every {step}th of a chain: the step must be 1 or more")
    own = np.array([chain.address], np.int64)
    far_left, far_right = Letter.with_value(own), Letter.with_value(own)
    turn = -1

    def met(left: int, right: int) -> None:
        nonlocal turn
        turn += 1

    def from_left(value: Any) -> None:
        if step >> turn & 1:
            far_left.value[0] = value[0]

    def from_right(value: Any) -> None:
        if step >> turn & 1:
            far_right.value[0] = value[0]

    walk(chain, far_left, far_right, from_left, from_right, met)
    # What has come to those who have nobody that far away is not what they looked for.
    left = NOBODY if chain.rank < step else int(far_left.value[0])
    right = NOBODY if chain.rank + step >= chain.size else int(far_right.value[0])
    rank = chain.rank // step
    size = rank + 1 + (chain.size - 1 - chain.rank) // step
    return Chain(chain.comm, rank, size, chain.address, left, right, chain.tag)
