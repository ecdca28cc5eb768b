r"""Two binary trees on the same ranks, in which (almost) every rank is a leaf of one tree (Sanders, Speck, Träff).

The ranks other than the root have labels 1 .. N; the root is 0 and sends to both trees. Let M be N, or N-1 if N is odd.
Tree 0 is the in-order binary tree on 1 .. M: even labels are inner nodes, odd labels are leaves. Tree 1 is its mirror
image, with label v at the position of M+1-v. If N is odd, label N is an additional leaf below M in tree 0 and below 1 in
tree 1.

    N = 6    tree 0      4          tree 1      3
                       /   \                  /   \
                      2     6                1     5
                     / \   /                  \   / \
                    1   3 5                    2 4   6

Edges have colors 0 and 1: steps of the pipeline alternate between them, and no rank has two outgoing edges or two
incoming edges of the same color, so each rank sends once and receives once per step. The color of an inner label follows
from its parent's color in O(log N): it changes for left children, and for all children if M/2 is odd. A leaf of tree 0 is
an inner node of tree 1; the color of its edge in tree 0 is the one that its edge in tree 1 does not have. The tests check
the colors for many N.
"""

from __future__ import annotations

from collectives.tools.numbers import floor_log2, lowest_bit


def tree_parent(v: int, tree: int, n: int) -> int:
    """The parent of label v; 0 is the root, which sends to both trees.

    >>> [[tree_parent(v, tree, 6) for v in range(1, 7)] for tree in (0, 1)]
    [[2, 4, 2, 0, 6, 4], [3, 1, 0, 5, 3, 5]]
    """
    m = n - n % 2
    if v > m:
        return 0 if m == 0 else (m, 1)[tree]
    if tree == 1:
        above = in_order_parent(m + 1 - v, m)
        return m + 1 - above if above else 0
    return in_order_parent(v, m)


def tree_children(v: int, tree: int, n: int) -> list[int]:
    """The children of label v, at most two; the child of 0 is the top of the tree.

    >>> tree_children(0, 0, 6), tree_children(4, 0, 6), tree_children(6, 0, 6), tree_children(4, 1, 6)
    ([4], [2, 6], [5], [])
    """
    m = n - n % 2
    if m == 0 or v > m:
        return [1] if v == 0 and n == 1 else []
    below = in_order_children(v if tree == 0 else m + 1 - v, m) if v else [1 << floor_log2(m)]
    children = below if tree == 0 else [m + 1 - u for u in below]
    return [*children, n] if n > m and v == (m, 1)[tree] else children


def color(v: int, tree: int, n: int) -> int:
    """The color of the edge into label v in a tree: 0 in even steps, 1 in odd steps.

    >>> [[color(v, tree, 6) for v in range(1, 7)] for tree in (0, 1)]
    [[1, 0, 0, 0, 0, 1], [0, 1, 1, 1, 1, 0]]
    """
    m = n - n % 2
    if v <= m:
        inner = v if v % 2 == 0 else m + 1 - v
        return _inner_color(inner, m) ^ tree
    if m == 0:
        return tree
    sibling = m - lowest_bit(m) // 2
    return 1 ^ color(sibling, 0, n) ^ tree


def first_step(v: int, tree: int, n: int) -> int:
    """The step in which label v receives the first block of a tree; the other blocks follow, one every two steps.

    >>> [[first_step(v, tree, 6) for v in range(1, 7)] for tree in (0, 1)]
    [[3, 2, 4, 0, 2, 1], [2, 3, 1, 5, 3, 4]]
    """
    path = [v]
    while above := tree_parent(path[-1], tree, n):
        path.append(above)
    step = -1
    for label in reversed(path):
        step += 1
        step += (step ^ color(label, tree, n)) & 1
    return step


def in_order_parent(u: int, m: int) -> int:
    """The parent of position u in the in-order tree on 1 .. m; 0 for the top."""
    bit = lowest_bit(u)
    above = (u ^ bit) | (bit << 1)
    return above if above <= m else u ^ bit


def in_order_children(u: int, m: int) -> list[int]:
    """The children of position u in the in-order tree on 1 .. m."""
    half = lowest_bit(u) // 2
    children = [u - half] if half else []
    while half and u + half > m:
        half //= 2
    return [*children, u + half] if half else children


def _inner_color(u: int, m: int) -> int:
    """The color of the edge into an inner label of tree 0."""
    flips = 0
    while above := in_order_parent(u, m):
        flips += (above > u) + m // 2
        u = above
    return flips % 2
