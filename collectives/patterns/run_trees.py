"""Trees whose subtrees are runs of positions: shared code of gathers and scatters on such trees.

The ranks are p positions in cyclic rank order. A tree defines for each position its parent, its children in the order of
sending, and the run of positions in its subtree. In the reverse order the runs of the children join the rank's own run
without gaps: the blocks of a subtree are contiguous, and a reduction combines operands in the order of positions. Inner
ranks hold the blocks of their subtree in scratch memory; the root packs the runs that wrap around the end of its buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.tools.blocks import Layout, required, spare_memory
from collectives.tools.messages import receive, send
from collectives.tools.protocol import Buffer, Comm


class TreeChild(NamedTuple):
    """A child: its position, and the run of positions in its subtree."""

    position: int
    first: int
    size: int


class TreeNode(NamedTuple):
    """The parent of a position (None at the root), the run of positions in its subtree, and its children."""

    parent: int | None
    first: int
    size: int
    children: tuple[TreeChild, ...]


@dataclass(frozen=True)
class RunTree:
    """A family of trees: the root's position among p, and the node at a position."""

    root: Callable[[int], int]
    node: Callable[[int, int], TreeNode]


class PlacedTree:
    """A tree on p ranks with a given root: `start` is the rank at position 0."""

    __slots__ = ("p", "start", "tree")

    def __init__(self, tree: RunTree, root: int, p: int) -> None:
        self.tree, self.p = tree, p
        self.start = (root - tree.root(p)) % p

    def node(self, rank: int) -> TreeNode:
        return self.tree.node((rank - self.start) % self.p, self.p)

    def rank(self, position: int) -> int:
        """The rank at a position."""
        return (self.start + position) % self.p

    def edges(self) -> Iterator[tuple[int, TreeChild]]:
        """All edges (position of the parent, child): depth first, children in the order of sending."""
        pending = [(self.tree.root(self.p), TreeChild(self.tree.root(self.p), 0, self.p))]
        while pending:
            parent, child = pending.pop()
            if child.size < self.p:
                yield parent, child
            below = self.tree.node(child.position, self.p).children
            pending += [(child.position, grandchild) for grandchild in reversed(below)]


def gather_runs_up(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, layout: Layout, tree: PlacedTree, tag: int
) -> None:
    """Gather all blocks to the root; each rank sends the blocks of its subtree to its parent."""
    rank = comm.Get_rank()
    node = tree.node(rank)
    if node.parent is None:
        recvbuf = required(recvbuf, "the root of a gather")
        layout.put(recvbuf, rank, sendbuf)
        for child in reversed(node.children):
            begin, end = tree.rank(child.first), tree.rank(child.first) + child.size
            if end <= layout.p:
                receive(comm, layout.block(recvbuf, begin, end), tree.rank(child.position), tag)
            else:
                packed = spare_memory(recvbuf, layout.around(begin, child.size))
                receive(comm, packed, tree.rank(child.position), tag)
                tail = layout.size(begin, layout.p)
                layout.block(recvbuf, begin, layout.p)[:] = packed[0:tail]
                layout.block(recvbuf, 0, end - layout.p)[:] = packed[tail : packed.size]
        return
    sendbuf = held = required(sendbuf, "a rank that sends its block")
    if node.size > 1:
        held = spare_memory(sendbuf, layout.around(tree.rank(node.first), node.size))
        _part(held, layout, tree, node, TreeChild(0, (rank - tree.start) % tree.p, 1))[:] = sendbuf
        for child in reversed(node.children):
            receive(comm, _part(held, layout, tree, node, child), tree.rank(child.position), tag)
    send(comm, held, tree.rank(node.parent), tag)


def scatter_runs_down(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, layout: Layout, tree: PlacedTree, tag: int
) -> None:
    """Scatter the root's blocks; each rank receives the blocks of its subtree from its parent."""
    rank = comm.Get_rank()
    node = tree.node(rank)
    if node.parent is None:
        sendbuf = required(sendbuf, "the root of a scatter")
        layout.take(sendbuf, rank, recvbuf)
        for child in node.children:
            begin, end = tree.rank(child.first), tree.rank(child.first) + child.size
            if end <= layout.p:
                send(comm, layout.block(sendbuf, begin, end), tree.rank(child.position), tag)
            else:
                packed = spare_memory(sendbuf, layout.around(begin, child.size))
                tail = layout.size(begin, layout.p)
                packed[0:tail] = layout.block(sendbuf, begin, layout.p)
                packed[tail : packed.size] = layout.block(sendbuf, 0, end - layout.p)
                send(comm, packed, tree.rank(child.position), tag)
        return
    recvbuf = required(recvbuf, "a rank that receives its block")
    held = recvbuf if node.size == 1 else spare_memory(recvbuf, layout.around(tree.rank(node.first), node.size))
    receive(comm, held, tree.rank(node.parent), tag)
    for child in node.children:
        send(comm, _part(held, layout, tree, node, child), tree.rank(child.position), tag)
    if node.size > 1:
        recvbuf[0 : recvbuf.size] = _part(held, layout, tree, node, TreeChild(0, (rank - tree.start) % tree.p, 1))


def _part(held: Buffer, layout: Layout, tree: PlacedTree, node: TreeNode, child: TreeChild) -> Buffer:
    """The part of a node's blocks that is a child's run."""
    start = layout.around(tree.rank(node.first), child.first - node.first)
    return held[start : start + layout.around(tree.rank(child.first), child.size)]  # type: ignore[no-any-return]  # a slice of a Buffer is Any


# Claims --------------------------------------------------------------------------------------------------------------


def run_claims(tree_of: Callable[[Case], PlacedTree], *, up: bool) -> Claims:
    """The schedule and scratch of `gather_runs_up` or, if not `up`, of `scatter_runs_down`."""

    def schedule(case: Case) -> Iterator[Round]:
        tree, layout = tree_of(case), case.layout
        sizes = [
            (tree.rank(parent), tree.rank(child.position), layout.around(tree.rank(child.first), child.size))
            for parent, child in tree.edges()
        ]
        for parent, child, size in reversed(sizes) if up else sizes:
            ends = (child, parent) if up else (parent, child)
            yield without_empty([Transfer(*ends, size * case.itemsize)])

    def scratch(case: Case, rank: int) -> int:
        tree, layout = tree_of(case), case.layout
        node = tree.node(rank)
        if node.parent is not None:
            return layout.around(tree.rank(node.first), node.size) * case.itemsize if node.size > 1 else 0
        runs = [(tree.rank(child.first), child.size) for child in node.children]
        return sum(layout.around(first, count) * case.itemsize for first, count in runs if first + count > case.p)

    return Claims(schedule=schedule, scratch=scratch)
