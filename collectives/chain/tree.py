"""Binomial trees on a chain, found by letting every second process step out of it.

Each process has a place: its distance from its root, negative to the root's left. In round i those whose place is an
odd multiple of 2^i step out. Each tells its neighbour on the root's side, which becomes its parent, the address of its
other neighbour, and that one the parent's. Who is left is a chain again, half as long. After ceil(log2 N) rounds only
roots are left, and they are a chain themselves.

    places    0  1  2  3  4  5  6       what a process knows: its parent's address and
    round 0   0 <1  2 <3  4 <5  6       its children's, at most ceil(log2 N) of them
    round 1   0    <2     4    <6
    round 2   0          <4
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from collectives.chain.chain import NOBODY, Chain
from collectives.chain.scan import HEADER
from collectives.tools.numbers import ceil_log2


class Branch(NamedTuple):
    """A subtree: `size` processes that follow each other on the chain, from rank `first` on, and their top's address."""

    address: int
    first: int
    size: int


class Tree(NamedTuple):
    """What a process knows of its tree: itself and all below it, its parent, its children from the nearest on."""

    own: Branch
    parent: int
    children: list[Branch]
    roots: Chain | None
    """The chain of all roots, if this is one."""


Give: TypeAlias = Callable[[], Any]
Take: TypeAlias = Callable[[Branch, Any], object]
"""Gets what a child has sent. Children come in the order in which they step out."""


class Places:
    """Where the roots are: at every `block`-th process, or, if there is one for all, at rank `root`."""

    def __init__(self, size: int, root: int = 0, block: int | None = None) -> None:
        self.size, self.root, self.block = size, root, block
        far = max(root, size - 1 - root) + 1 if block is None else min(block, size)
        self.rounds = ceil_log2(far)
        self.count = 1 if block is None else -(-size // block)

    def of(self, rank: int) -> int:
        """A process's place."""
        return rank - self.root if self.block is None else rank % self.block

    def steps_out(self, rank: int, i: int) -> bool:
        """Whether a process that is left in round i steps out in it."""
        return bool(self.of(rank) >> i & 1)

    def part(self, rank: int, i: int) -> tuple[int, int]:
        """First rank and number of the processes below one that is left in round i, itself included."""
        place, step = self.of(rank), 1 << i
        end = self.size if self.block is None else min(self.size, rank - place + self.block)
        first = max(0, rank - step + 1) if place < 0 or (place == 0 and self.block is None) else rank
        last = min(end - 1, rank + step - 1) if place >= 0 else rank
        return first, last - first + 1

    def beside(self, rank: int, i: int, way: int) -> int:
        """The rank of the neighbour, to the left (-1) or to the right (1), among those that are left in round i."""
        step = 1 << i
        if self.block is None:
            return rank + way * step
        place = self.of(rank)
        if way > 0:
            return min(rank + step, rank - place + self.block)
        return rank - step if place else rank - self.block + ((self.block - 1) >> i << i)


def grow(chain: Chain, places: Places, width: int = 0, give: Give | None = None, take: Take | None = None) -> Tree:
    """Find the tree; on the way each process hands its parent `width` bytes for each process below it.

    `give()` returns them as an array of bytes when the process steps out, and `take(child, array)` gets the children's.
    """
    comm, tag, rank, left, right = chain.comm, chain.tag, chain.rank, chain.left, chain.right
    address = np.empty(1, np.int64)
    children: list[Branch] = []

    def hear(source: int, at: int, i: int, is_child: bool) -> int:
        """From a neighbour that steps out: the address of the next one."""
        if not is_child:
            comm.Recv(address, source, tag)
            return int(address[0])
        first, count = places.part(at, i)
        message = np.empty(HEADER + count * width, np.uint8)
        comm.Recv(message, source, tag)
        children.append(Branch(source, first, count))
        if take is not None:
            take(children[-1], message[HEADER:])
        return int(message[:HEADER].view(np.int64)[0])

    place = places.of(rank)
    for i in range(places.rounds):
        if places.steps_out(rank, i):
            parent, other = (left, right) if place > 0 else (right, left)
            own = Branch(chain.address, *places.part(rank, i))
            message = np.empty(HEADER + own.size * width, np.uint8)
            message[:HEADER].view(np.int64)[0] = other
            if give is not None:
                message[HEADER:] = give()
            comm.Send(message, parent, tag)
            if other != NOBODY:
                address[0] = parent
                comm.Send(address, other, tag)
            return Tree(own, parent, children, None)
        # The child first: it is the one that sends to its parent first.
        for way in (1, -1) if place >= 0 else (-1, 1):
            source = right if way > 0 else left
            at = places.beside(rank, i, way)
            if source != NOBODY and places.steps_out(at, i):
                is_child = places.of(at) * way > 0
                heard = hear(source, at, i, is_child)
                left, right = (left, heard) if way > 0 else (heard, right)
    own = Branch(chain.address, *places.part(rank, places.rounds))
    number = rank // places.block if places.block is not None else 0
    roots = Chain(comm, number, places.count, chain.address, left, right, tag)
    return Tree(own, NOBODY, children, roots)


def spread(chain: Chain, tree: Tree, width: int, block: Any = None) -> Any:
    """Down the tree: a root has `width` bytes for each process below it, in order of rank; everybody gets its own."""
    comm, tag = chain.comm, chain.tag
    if tree.parent != NOBODY:
        block = np.empty(tree.own.size * width, np.uint8)
        comm.Recv(block, tree.parent, tag)
    for child in reversed(tree.children):
        start = (child.first - tree.own.first) * width
        comm.Send(block[start : start + child.size * width], child.address, tag)
    start = (chain.rank - tree.own.first) * width
    return block[start : start + width]
