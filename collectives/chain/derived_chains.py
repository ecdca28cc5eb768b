"""Structures derived from a chain: Logchain, Ring, every n-th process; and a chain from pairs of neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from collectives.chain.chain import NO_RANK, Chain
from collectives.chain.scan import ScanMessage, double_scan, run_rounds
from collectives.tools.protocol import Comm


@dataclass(frozen=True)
class Logchain:
    """The addresses of the processes at distance 2^d to the left and to the right, for all d: O(log N) addresses."""

    lefts: list[int]
    rights: list[int]

    @classmethod
    def of(cls, chain: Chain) -> Logchain:
        """Find the addresses in ceil(log2 N) rounds, whose messages contain only addresses."""
        lefts: list[int] = []
        rights: list[int] = []

        def on_partners(left: int, right: int) -> None:
            lefts.append(left)
            rights.append(right)

        empty = ScanMessage(np.empty(0, np.uint8)), ScanMessage(np.empty(0, np.uint8))
        run_rounds(chain, *empty, None, None, on_partners)
        return cls(lefts, rights)


@dataclass(frozen=True)
class Ring:
    """A chain whose ends are neighbors: every process has a left and a right neighbor (itself in a ring of one)."""

    chain: Chain
    left: int
    right: int

    @classmethod
    def of(cls, chain: Chain) -> Ring:
        """Exchange the addresses of the first and the last process by one double scan."""
        own = np.array([chain.address], np.int64)
        first, last = double_scan(chain, own, own, lambda a, b: a, lambda a, b: b)
        left = int(last[0]) if chain.left == NO_RANK else chain.left
        right = int(first[0]) if chain.right == NO_RANK else chain.right
        return cls(chain, left, right)

    def rotated(self, first: int) -> Chain:
        """Return the chain that starts with the current rank `first`; sends no message."""
        chain = self.chain
        rank = (chain.rank - first) % chain.size
        left = NO_RANK if rank == 0 else self.left
        right = NO_RANK if rank == chain.size - 1 else self.right
        return Chain(chain.comm, rank, chain.size, chain.address, left, right, chain.tag)


def linked(comm: Comm, left: int, right: int, tag: int = 0) -> Chain:
    """Return the chain of processes that know only their neighbors; one double scan counts the processes on each side.

    `left` and `right` are ranks of `comm`, or NO_RANK. The right neighbor of a process must have it as its left neighbor.
    """
    address = comm.Get_rank()
    # Rank and size are placeholders that satisfy Chain's check; a scan uses only the neighbors.
    size = 1 + (left != NO_RANK) + (right != NO_RANK)
    unnumbered = Chain(comm, int(left != NO_RANK), size, address, left, right, tag)
    ones = np.ones(1, np.int64)
    before, after = double_scan(unnumbered, ones, ones, lambda a, b: a + b)
    rank = int(before[0]) - 1
    return Chain(comm, rank, rank + int(after[0]), address, left, right, tag)


def every_nth(chain: Chain, step: int) -> Chain:
    """Return the chain of the processes at multiples of `step` ranks from this one: one of `step` interleaved chains.

    One double scan finds the neighbors. In round i, if bit i of `step` is set, every process takes over the address that
    its partner at distance 2^i has found. That address is at the distance given by the lower bits of `step` from the
    partner, so it is 2^i farther from this process.
    """
    if step < 1:
        raise ValueError(f"every_nth: step = {step} is too small; the minimum is 1")
    own = np.array([chain.address], np.int64)
    far_left, far_right = ScanMessage.with_value(own), ScanMessage.with_value(own)
    number = -1

    def on_partners(left: int, right: int) -> None:
        nonlocal number
        number += 1

    def from_left(value: Any) -> None:
        if step >> number & 1:
            far_left.value[0] = value[0]

    def from_right(value: Any) -> None:
        if step >> number & 1:
            far_right.value[0] = value[0]

    run_rounds(chain, far_left, far_right, from_left, from_right, on_partners)
    # Near the ends there is no process at this distance, and the scan's address belongs to another one.
    left = NO_RANK if chain.rank < step else int(far_left.value[0])
    right = NO_RANK if chain.rank + step >= chain.size else int(far_right.value[0])
    rank = chain.rank // step
    size = rank + 1 + (chain.size - 1 - chain.rank) // step
    return Chain(chain.comm, rank, size, chain.address, left, right, chain.tag)
