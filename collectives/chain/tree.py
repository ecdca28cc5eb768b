"""Binomial trees on a chain, built by removing every second process from the chain in each round.

Each process has a position: its distance from its root, negative to the left of the root. In round i the processes whose
position is an odd multiple of 2^i leave the chain. Each sends the address of its other neighbor to the neighbor on the
root's side, which becomes its parent, and the parent's address to the other neighbor. The remaining processes are a chain
of half the length. After ceil(log2 N) rounds only roots remain, and they form a chain.

    positions    0  1  2  3  4  5  6       a process knows the addresses of its parent and
    round 0      0 <1  2 <3  4 <5  6       of its children, at most ceil(log2 N)
    round 1      0    <2     4    <6
    round 2      0          <4
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from collectives.chain.chain import NO_RANK, Chain
from collectives.chain.scan import HEADER
from collectives.tools.numbers import ceil_log2


class Subtree(NamedTuple):
    """A subtree: the address of its root, and the `size` consecutive ranks from `first` on."""

    address: int
    first: int
    size: int


class ChainTree(NamedTuple):
    """One process's view of its tree: its subtree, its parent, and its children, the nearest first."""

    own: Subtree
    parent: int
    children: list[Subtree]
    roots: Chain | None
    """The chain of all roots on a root, None on other processes."""


Payload: TypeAlias = Callable[[], Any]
OnChild: TypeAlias = Callable[[Subtree, Any], object]
"""Called with each child and its data, in the order in which the children leave the chain."""


class TreeShape:
    """The positions in the trees: one tree with its root at rank `root`, or one tree per `block` consecutive ranks."""

    def __init__(self, size: int, root: int = 0, block: int | None = None) -> None:
        self.size, self.root, self.block = size, root, block
        farthest = max(root, size - 1 - root) + 1 if block is None else min(block, size)
        self.rounds = ceil_log2(farthest)
        self.count = 1 if block is None else -(-size // block)

    def position(self, rank: int) -> int:
        """Return the distance of a process from its root."""
        return rank - self.root if self.block is None else rank % self.block

    def leaves(self, rank: int, i: int) -> bool:
        """Return whether a process that is in the chain in round i leaves it in this round."""
        return bool(self.position(rank) >> i & 1)

    def subtree(self, rank: int, i: int) -> tuple[int, int]:
        """Return the first rank and the size of the subtree of a process that is in the chain in round i."""
        position, step = self.position(rank), 1 << i
        end = self.size if self.block is None else min(self.size, rank - position + self.block)
        first = max(0, rank - step + 1) if position < 0 or (position == 0 and self.block is None) else rank
        last = min(end - 1, rank + step - 1) if position >= 0 else rank
        return first, last - first + 1

    def neighbor(self, rank: int, i: int, direction: int) -> int:
        """Return the rank of the left (-1) or right (1) neighbor in the chain of round i."""
        step = 1 << i
        if self.block is None:
            return rank + direction * step
        position = self.position(rank)
        if direction > 0:
            return min(rank + step, rank - position + self.block)
        return rank - step if position else rank - self.block + ((self.block - 1) >> i << i)


def build_tree(
    chain: Chain, shape: TreeShape, width: int = 0, payload: Payload | None = None, on_child: OnChild | None = None
) -> ChainTree:
    """Build the tree; each process sends its parent `width` bytes for each process of its subtree.

    `payload()` returns these bytes when the process leaves the chain, and `on_child(child, array)` receives a child's.
    """
    comm, tag, rank, left, right = chain.comm, chain.tag, chain.rank, chain.left, chain.right
    address = np.empty(1, np.int64)
    children: list[Subtree] = []

    def receive(source: int, at: int, i: int, is_child: bool) -> int:
        """Receive from a neighbor that leaves the chain; return the address of the next neighbor."""
        if not is_child:
            comm.Recv(address, source, tag)
            return int(address[0])
        first, count = shape.subtree(at, i)
        message = np.empty(HEADER + count * width, np.uint8)
        comm.Recv(message, source, tag)
        children.append(Subtree(source, first, count))
        if on_child is not None:
            on_child(children[-1], message[HEADER:])
        return int(message[:HEADER].view(np.int64)[0])

    position = shape.position(rank)
    for i in range(shape.rounds):
        if shape.leaves(rank, i):
            parent, other = (left, right) if position > 0 else (right, left)
            own = Subtree(chain.address, *shape.subtree(rank, i))
            message = np.empty(HEADER + own.size * width, np.uint8)
            message[:HEADER].view(np.int64)[0] = other
            if payload is not None:
                message[HEADER:] = payload()
            comm.Send(message, parent, tag)
            if other != NO_RANK:
                address[0] = parent
                comm.Send(address, other, tag)
            return ChainTree(own, parent, children, None)
        # Receive from the child first: a process that leaves sends to its parent first.
        for direction in (1, -1) if position >= 0 else (-1, 1):
            source = right if direction > 0 else left
            at = shape.neighbor(rank, i, direction)
            if source != NO_RANK and shape.leaves(at, i):
                is_child = shape.position(at) * direction > 0
                following = receive(source, at, i, is_child)
                left, right = (left, following) if direction > 0 else (following, right)
    own = Subtree(chain.address, *shape.subtree(rank, shape.rounds))
    number = rank // shape.block if shape.block is not None else 0
    roots = Chain(comm, number, shape.count, chain.address, left, right, tag)
    return ChainTree(own, NO_RANK, children, roots)


def send_down(chain: Chain, tree: ChainTree, width: int, block: Any = None) -> Any:
    """Scatter down the tree: a root passes `width` bytes per process in rank order; returns this process's bytes."""
    comm, tag = chain.comm, chain.tag
    if tree.parent != NO_RANK:
        block = np.empty(tree.own.size * width, np.uint8)
        comm.Recv(block, tree.parent, tag)
    for child in reversed(tree.children):
        start = (child.first - tree.own.first) * width
        comm.Send(block[start : start + child.size * width], child.address, tag)
    start = (chain.rank - tree.own.first) * width
    return block[start : start + width]
