"""Allreduce by two pipelined trees: segments are reduced in two binary trees, exchanged by the roots, and sent down again.

The lower half of the ranks is one binary tree, the upper half the other; a subtree is a run of ranks, its root the last of
them. The message is cut into n segments. In its turn j a rank of depth d first exchanges with its children, the nearer one
first: it receives their partial segment j, combines it as left operand with its own, and sends them the result of segment
j-d-1. Then it sends its partial segment j to its parent and receives the result of segment j-d. The two roots exchange their
partial segments and combine them in rank order, so all ranks receive the same result.

    p = 4, n = 1    start   1st     2nd     3rd         trees: 1 with child 0, 3 with child 2
    rank 0          0       .       .       0123        1st: 0 -> 1, 2 -> 3
    rank 1          1       01      0123    0123        2nd: 1 with 3
    rank 2          2       .       .       0123        3rd: 1 -> 0, 3 -> 2
    rank 3          3       23      0123    0123

Rounds   about 3 n + 4 log2 p    Sent per rank   up to 3 m bytes    Scratch   a segment; leaves none
Time     computed from the schedule; at most about (3 n + 4 log2 p) (t_s + b t_w) for segments of b bytes
Fits     any p; any op, in rank order; segment_bytes > 0
Bits     equal on all ranks; depend on p
Best     long messages and ops that are not commutative: 3 m t_w for any p
Source   Träff, A Doubly-pipelined, Dual-root Reduction-to-all Algorithm and Implementation, 2021, arXiv:2109.12626
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from collectives.catalogue.algorithm import Case
from collectives.catalogue.conditions import positive_segments_only
from collectives.catalogue.declaration import algorithm
from collectives.catalogue.schedule import Round, Transfer, without_empty
from collectives.patterns.reductions import combine_in_order
from collectives.patterns.segmented import SEGMENT_BYTES, segments_of
from collectives.tools.blocks import Layout, load, segments, spare_memory
from collectives.tools.messages import exchange
from collectives.tools.protocol import Buffer, Comm, Op


class TreePosition(NamedTuple):
    """A rank's depth, its parent (for a root: the other root), and its children, the nearer one first."""

    depth: int
    parent: int
    children: tuple[int, ...]


@lru_cache(maxsize=8192)
def tree_position(rank: int, p: int) -> TreePosition:
    """The position of a rank in the two trees, for p > 1.

    >>> tree_position(2, 7), tree_position(6, 7).children, tree_position(4, 7)
    (TreePosition(depth=0, parent=6, children=(1, 0)), (5, 3), TreePosition(depth=2, parent=5, children=()))
    """
    half = p // 2
    first, last = (0, half - 1) if rank < half else (half, p - 1)
    depth, parent = 0, p - 1 if rank < half else half - 1
    while rank != last:
        middle = first + (last - first) // 2
        depth, parent = depth + 1, last
        first, last = (first, middle - 1) if rank < middle else (middle, last - 1)
    middle = first + (last - first) // 2
    children = (last - 1, middle - 1) if middle > first else (last - 1,)
    return TreePosition(depth, parent, children if last > first else ())


def _segment(buf: Buffer, pieces: Layout, j: int) -> Any:
    return pieces.block(buf, j) if 0 <= j < pieces.p else None


def schedule(case: Case) -> Iterator[Round]:
    p, pieces = case.p, segments_of(case)
    if not case.m or p == 1:
        return
    places = [tree_position(rank, p) for rank in range(p)]
    levels: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for rank, (depth, _, children) in enumerate(places):
        for number, child in enumerate(children):
            levels.setdefault((-depth, number), []).append((rank, child))
    sizes = [pieces.size(j) * case.itemsize for j in range(pieces.p)]
    deepest = max(each.depth for each in places)
    for j in range(pieces.p + deepest + 1):
        up = sizes[j] if j < pieces.p else 0
        for depth, number in sorted(levels):
            done = j + depth - 1
            down = sizes[done] if 0 <= done < pieces.p else 0
            pairs = levels[depth, number]
            transfers = [Transfer(child, parent, up, up) for parent, child in pairs]
            yield without_empty([*transfers, *(Transfer(parent, child, down) for parent, child in pairs)])
        yield without_empty(Transfer(a, b, up, up) for a, b in ((p // 2 - 1, p - 1), (p - 1, p // 2 - 1)))


def scratch(case: Case, rank: int) -> int:
    if case.p == 1:
        return 0
    depth, _, children = tree_position(rank, case.p)
    return segments_of(case).size(0) * case.itemsize if children or depth == 0 else 0


def closed_combined(case: Case) -> None:
    return None


@algorithm(
    schedule=schedule,
    scratch=scratch,
    why_unsupported=positive_segments_only,
    closed_combined=closed_combined,
    in_order=True,
)
def allreduce_dual_root_pipelined(
    comm: Comm, sendbuf: Buffer | None, recvbuf: Buffer, *, op: Op, segment_bytes: int = SEGMENT_BYTES, tag: int = 0
) -> None:
    """Leave the result in `recvbuf` on every rank; if `sendbuf` is None, `recvbuf` holds the operand."""
    p, rank = comm.Get_size(), comm.Get_rank()
    load(recvbuf, sendbuf)
    if p == 1:
        return
    pieces = segments(recvbuf.size, recvbuf.itemsize, segment_bytes)
    depth, parent, children = tree_position(rank, p)
    spare = spare_memory(recvbuf, pieces.size(0) if children or depth == 0 else 0)
    for j in range(pieces.p + depth + 1):
        partial = _segment(recvbuf, pieces, j)
        incoming = None if partial is None else spare[0 : partial.size]
        for child in children:
            exchange(comm, _segment(recvbuf, pieces, j - depth - 1), child, incoming, child, tag)
            if partial is not None and incoming is not None:
                combine_in_order(op, partial, incoming, other_is_left=True)
        if depth > 0:
            exchange(comm, partial, parent, _segment(recvbuf, pieces, j - depth), parent, tag)
        elif partial is not None and incoming is not None:
            exchange(comm, partial, parent, incoming, parent, tag)
            combine_in_order(op, partial, incoming, other_is_left=parent < rank)
