"""The in-order binary tree of a scan: the place of each rank, and the rounds in which its first segment moves."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from collectives.patterns.two_trees import in_order_children, in_order_parent
from collectives.tools.numbers import floor_log2, lowest_bit


class TreePlace(NamedTuple):
    """The neighbors of a rank in the tree, the edges of the tree on which it is, and its distance from the next edge."""

    parent: int | None
    left: int | None
    right: int | None
    on_left_edge: bool
    on_right_edge: bool
    lag: int

    @property
    def adds_right_sum(self) -> bool:
        """Whether the sum that the rank sends includes a right subtree."""
        return self.right is not None and not self.on_right_edge

    @property
    def sends_left(self) -> bool:
        """Whether the rank has a prefix for its left child."""
        return self.left is not None and not self.on_left_edge

    @property
    def uses_operand(self) -> bool:
        """Whether another rank needs this rank's operand, in a sum or a prefix."""
        return self.right is not None or not self.on_right_edge


@lru_cache(maxsize=8192)
def tree_place(rank: int, p: int) -> TreePlace:
    """The place of a rank in the tree.

    >>> tree_place(3, 6), tree_place(4, 7), tree_place(2, 7).lag
    (TreePlace(parent=None, left=1, right=5, on_left_edge=True, on_right_edge=True, lag=0), \
TreePlace(parent=5, left=None, right=None, on_left_edge=False, on_right_edge=False, lag=1), 1)
    """
    label = rank + 1
    first, last = _ends(label, p)
    children = in_order_children(label, p)
    return TreePlace(
        parent=None if (first, last) == (1, p) else in_order_parent(label, p) - 1,
        left=children[0] - 1 if children else None,
        right=children[1] - 1 if len(children) > 1 else None,
        on_left_edge=first == 1,
        on_right_edge=last == p,
        lag=0 if first == 1 or last == p else 1 + tree_place(in_order_parent(label, p) - 1, p).lag,
    )


def _ends(label: int, p: int) -> tuple[int, int]:
    """The first and the last label of the subtree below a label."""
    half = lowest_bit(label) - 1
    return label - half, min(label + half, p)


def copies_operand(place: TreePlace, *, inclusive: bool) -> bool:
    """Whether an exscan combines other data with the operand for other ranks, and so needs a copy of it."""
    return not inclusive and place.left is not None and place.uses_operand


def keeps_prefix(place: TreePlace, *, inclusive: bool) -> bool:
    """Whether a received prefix needs memory: in an exscan, a leaf receives its result."""
    return not place.on_left_edge and (inclusive or place.left is not None)


@lru_cache(maxsize=8192)
def edge_rounds(rank: int, p: int) -> tuple[int | None, int | None]:
    """The rounds in which a rank that has a parent sends it the sum of segment 0, and receives its prefix; None if never.

    >>> [edge_rounds(rank, 7) for rank in range(7) if rank != 3]
    [(1, None), (2, None), (0, 3), (2, 5), (None, 3), (None, 4)]
    """
    place = tree_place(rank, p)
    assert place.parent is not None
    above = tree_place(place.parent, p)
    is_left = rank == above.left
    if above.parent is None:
        last_up = 2 * floor_log2(p) - 2
        return (last_up, None) if is_left else (None, last_up + 1)
    up, down = edge_rounds(place.parent, p)
    if up is None:  # on the right edge
        assert down is not None
        return (down - 1, down + 2) if is_left else (None, down + 1)
    if down is None:  # on the left edge
        return (up - 1, None) if is_left else (up - 2, up + 1)
    return (up - 1, down + 2) if is_left else (up - 2, down + 1)
