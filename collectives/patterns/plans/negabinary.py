"""Negabinary distances, and the tree and the peers that they define: shared by Bine and Swing (De Sensi et al.).

J_s = (1 - (-2)^s) / 3 is the number that consists of s digits 1 in base -2: 1, -1, 3, -5, 11, -21, ... The absolute values
grow as 2^s / 3, so partners at these distances are closer than in a binomial tree or in recursive doubling, where the
distance is 2^(s-1).

The Bine tree on a run of positions consists of two Bine trees on its halves, one of them mirrored, so that the shorter
sides of the two roots face each other. For p = 2^s the two roots are |J_s| positions apart, and the tree is that
of the paper, where a rank's parent differs in the lowest negabinary digits that are equal. For other p the halves differ
by one position; this rule is fakempi's.

    p = 8, positions 0 .. 7, the root at 2:    2 -> 5;    2 -> 1, 5 -> 6;    2 -> 3, 1 -> 0, 5 -> 4, 6 -> 7
"""

from __future__ import annotations

from functools import lru_cache

from collectives.patterns.run_trees import RunTree, TreeChild, TreeNode
from collectives.tools.numbers import ceil_log2


def negabinary_distance(s: int) -> int:
    """J_s: the number of s digits 1 in base -2.

    >>> [negabinary_distance(s) for s in range(1, 8)]
    [1, -1, 3, -5, 11, -21, 43]
    """
    return (1 + (1 << s) if s % 2 else 1 - (1 << s)) // 3


def swing_peer(rank: int, s: int, n: int) -> int:
    """The partner of a rank on a ring of n at distance J_s: even ranks go up by J_s, odd ranks go down.

    >>> [swing_peer(r, 3, 8) for r in range(8)]
    [3, 6, 5, 0, 7, 2, 1, 4]
    """
    distance = negabinary_distance(s)
    return (rank - distance if rank % 2 else rank + distance) % n


@lru_cache(maxsize=64)
def swing_offsets(n: int) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """The rounds of an allgather on a ring of even length n, longest distance first: (s, offsets received).

    An even rank r receives the blocks r + x, an odd rank the blocks r - x (mod n), for every offset x. If n is not a power
    of two, blocks that the receiver already has are not sent.

    >>> swing_offsets(4), swing_offsets(6)
    (((2, (3,)), (1, (1, 2))), ((3, (3,)), (2, (2, 5)), (1, (1, 4))))
    """
    held = [0]
    result = []
    for s in range(ceil_log2(n), 0, -1):
        new = sorted({(negabinary_distance(s) - x) % n for x in held} - set(held))
        result.append((s, tuple(new)))
        held += new
    return tuple(result)


def _short_side(count: int) -> int:
    """Positions on the shorter side of the root of a tree on `count` positions."""
    sizes = []
    while count > 1:
        count = (count + 1) // 2
        sizes.append(count)
    side = 0
    for size in reversed(sizes):
        side = size - 1 - side
    return side


def _root(first: int, count: int, right: bool) -> int:
    """The root of the tree on a run of positions; `right` is whether the root has more positions on its right side."""
    side = _short_side(count)
    return first + side if right else first + count - 1 - side


def _long_side_right(p: int) -> bool:
    """Whether the root has most positions on its right, like 0 among the numbers with ceil(log2 p) negabinary digits."""
    return ceil_log2(p) % 2 == 1


@lru_cache(maxsize=8192)
def bine_node(position: int, p: int) -> TreeNode:
    """The node at a position of the Bine tree on p positions.

    >>> bine_node(2, 8).children
    (TreeChild(position=5, first=4, size=4), TreeChild(position=1, first=0, size=2), TreeChild(position=3, first=3, size=1))
    >>> bine_node(6, 8)
    TreeNode(parent=5, first=6, size=2, children=(TreeChild(position=7, first=7, size=1),))
    """
    first, count, right = 0, p, _long_side_right(p)
    parent, run = None, (0, p)
    children = []
    while count > 1:
        root, far = _root(first, count, right), count // 2
        near = (first if right else first + far, count - far, not right)
        away = (first + count - far if right else first, far, right)
        if root == position:
            children.append(TreeChild(_root(*away), away[0], far))
        elif away[0] <= position < away[0] + far:
            if _root(*away) == position:
                parent, run = root, (away[0], far)
            near = away
        first, count, right = near
    return TreeNode(parent, *run, tuple(children))


BINE = RunTree(root=lambda p: _root(0, p, _long_side_right(p)), node=bine_node)
