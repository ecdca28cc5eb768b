"""Blocks up and down a binomial tree: shared code of gather(v), scatter(v), and the scatter of broadcasts.

A subtree is a run of relative ranks, so its blocks are a run of blocks (`run_trees`). The schedules have the edges of one
length in one round.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from collectives.catalogue.algorithm import Case, Claims
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.patterns.run_trees import (
    PlacedTree,
    RunTree,
    TreeChild,
    TreeNode,
    gather_runs_up,
    run_claims,
    scatter_runs_down,
)
from collectives.patterns.trees import children, level, parent, subtree
from collectives.tools.blocks import Layout
from collectives.tools.messages import receive, send
from collectives.tools.numbers import ceil_log2
from collectives.tools.protocol import Buffer, Comm


@lru_cache(maxsize=8192)
def binomial_node(v: int, p: int) -> TreeNode:
    """The node of relative rank v.

    >>> binomial_node(4, 7)
    TreeNode(parent=0, first=4, size=3, children=(TreeChild(position=6, first=6, size=1), \
TreeChild(position=5, first=5, size=1)))
    """
    below = tuple(TreeChild(child, child, subtree(child, p)) for child in reversed(children(v, p)))
    return TreeNode(parent(v) if v else None, v, subtree(v, p), below)


BINOMIAL: Final = RunTree(root=lambda p: 0, node=binomial_node)


def binomial_tree() -> RunTree:
    """The binomial tree, for algorithms without parameters."""
    return BINOMIAL


def gather_up(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, layout: Layout, root: int, tag: int) -> None:
    """Gather all blocks to the root; each rank sends the blocks of its subtree to its parent."""
    gather_runs_up(comm, sendbuf, recvbuf, layout, PlacedTree(BINOMIAL, root, comm.Get_size()), tag)


def scatter_down(comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer | None, layout: Layout, root: int, tag: int) -> None:
    """Scatter the root's blocks; each rank receives the blocks of its subtree from its parent."""
    scatter_runs_down(comm, sendbuf, recvbuf, layout, PlacedTree(BINOMIAL, root, comm.Get_size()), tag)


def scatter_pieces(comm: Comm, buf: Buffer, pieces: Layout, root: int, tag: int) -> None:
    """Scatter the root's `buf` over the `buf` of all ranks: relative rank v receives pieces v .. v + subtree - 1."""
    p, rank = comm.Get_size(), comm.Get_rank()
    v = (rank - root) % p
    if v > 0:
        receive(comm, pieces.block(buf, v, v + subtree(v, p)), (root + parent(v)) % p, tag)
    for child in reversed(children(v, p)):
        send(comm, pieces.block(buf, child, child + subtree(child, p)), (root + child) % p, tag)


def gather_up_schedule(case: Case) -> Iterator[Round]:
    layout = case.layout
    for k in range(ceil_log2(case.p)):
        yield [Transfer(t.dest, t.source, t.nbytes) for t in _edges(layout, case.itemsize, case.root, k)]


def scatter_down_schedule(layout: Layout, itemsize: int, root: int) -> Iterator[Round]:
    for k in reversed(range(ceil_log2(layout.p))):
        yield _edges(layout, itemsize, root, k)


def scatter_pieces_schedule(pieces: Layout, itemsize: int, root: int) -> Iterator[Round]:
    """The schedule of `scatter_pieces`: the same tree, with pieces counted from the root."""
    p = pieces.p
    for transfers in scatter_down_schedule(pieces, itemsize, 0):
        yield [Transfer((t.source + root) % p, (t.dest + root) % p, t.nbytes) for t in transfers]


def gathered_bytes(case: Case, rank: int) -> int:
    """Bytes that a rank sends in a gather: the blocks of its subtree."""
    v = (rank - case.root) % case.p
    return case.layout.around(rank, subtree(v, case.p)) * case.itemsize if v else 0


def _edges(layout: Layout, itemsize: int, root: int, k: int) -> list[Transfer]:
    """Transfers from parent to child over the edges of length 2^k, with the bytes of the child's subtree."""
    p = layout.p
    return without_empty(
        Transfer((root + parent(v)) % p, (root + v) % p, layout.around((root + v) % p, subtree(v, p)) * itemsize)
        for v in level(k, p)
    )


_SCRATCH: Final = run_claims(lambda case: PlacedTree(BINOMIAL, case.root, case.p), up=True)["scratch"]
GATHER_CLAIMS: Final = Claims(schedule=gather_up_schedule, scratch=_SCRATCH, closed_sent=gathered_bytes)
SCATTER_CLAIMS: Final = Claims(
    schedule=lambda case: scatter_down_schedule(case.layout, case.itemsize, case.root), scratch=_SCRATCH
)
