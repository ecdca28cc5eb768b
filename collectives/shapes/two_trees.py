r"""Two binary trees on the same ranks, so that (almost) every rank is a leaf of one of them (Sanders, Speck, Träff).

The ranks besides the root are labelled 1 .. N, the root is 0 and feeds both trees. Let M be N, or N-1 if N is odd.
Tree 0 is the binary tree on 1 .. M numbered in order: even labels are inner, odd ones are leaves. Tree 1 is its mirror
image, label v in the place of M+1-v. If N is odd, N hangs as one more leaf below M in tree 0 and below 1 in tree 1.

    N = 6    tree 0      4          tree 1      3
                       /   \                  /   \
                      2     6                1     5
                     / \   /                  \   / \
                    1   3 5                    2 4   6

Edges have colours 0 and 1: steps of the pipeline alternate between them, and no rank has two outgoing edges nor two
incoming edges of one colour, so each sends once and receives once in a step. The colour of an inner label follows
from its parent's, in O(log N): it changes for left children, and for all if M/2 is odd. A leaf of tree 0 is inner in
tree 1, where it has the colour of its mirror image's other edge. The tests check the colours for every N.
"""

from __future__ import annotations

from collectives.tools.numbers import floor_log2, lowest_bit


def tree_parent(v: int, tree: int, n: int) -> int:
    """The parent of label v; 0 is the root that feeds both trees.

    >>> [[tree_parent(v, tree, 6) for v in range(1, 7)] for tree in (0, 1)]
    [[2, 4, 2, 0, 6, 4], [3, 1, 0, 5, 3, 5]]
    """
    m = n - n % 2
    if v > m:
        return 0 if m == 0 else (m, 1)[tree]
    if tree == 1:
        above = _above(m + 1 - v, m)
        return m + 1 - above if above else 0
    return _above(v, m)


def tree_children(v: int, tree: int, n: int) -> list[int]:
    """The children of label v, at most two; those of 0 are the tops of the trees.

    >>> tree_children(0, 0, 6), tree_children(4, 0, 6), tree_children(6, 0, 6), tree_children(4, 1, 6)
    ([4], [2, 6], [5], [])
    """
    m = n - n % 2
    if m == 0 or v > m:
        return [1] if v == 0 and n == 1 else []
    below = _below(v if tree == 0 else m + 1 - v, m) if v else [1 << floor_log2(m)]
    found = below if tree == 0 else [m + 1 - u for u in below]
    return [*found, n] if n > m and v == (m, 1)[tree] else found


def colour(v: int, tree: int, n: int) -> int:
    """The colour of the edge that enters label v in a tree: 0 in even steps, 1 in odd ones.

    >>> [[colour(v, tree, 6) for v in range(1, 7)] for tree in (0, 1)]
    [[1, 0, 0, 0, 0, 1], [0, 1, 1, 1, 1, 0]]
    """
    m = n - n % 2
    if v <= m:
        inner = v if v % 2 == 0 else m + 1 - v
        return _inner_colour(inner, m) ^ tree
    if m == 0:
        return tree
    sibling = m - lowest_bit(m) // 2
    return 1 ^ colour(sibling, 0, n) ^ tree


def first_step(v: int, tree: int, n: int) -> int:
    """The step in which the first block of a tree enters label v; the others follow, one every two steps.

    >>> [[first_step(v, tree, 6) for v in range(1, 7)] for tree in (0, 1)]
    [[3, 2, 4, 0, 2, 1], [2, 3, 1, 5, 3, 4]]
    """
    path = [v]
    while above := tree_parent(path[-1], tree, n):
        path.append(above)
    step = -1
    for label in reversed(path):
        step += 1
        step += (step ^ colour(label, tree, n)) & 1
    return step


def _above(u: int, m: int) -> int:
    """The parent of place u in the in-order tree on 1 .. m; 0 for the top."""
    bit = lowest_bit(u)
    above = (u ^ bit) | (bit << 1)
    return above if above <= m else u ^ bit


def _below(u: int, m: int) -> list[int]:
    """The children of place u in the in-order tree on 1 .. m."""
    half = lowest_bit(u) // 2
    found = [u - half] if half else []
    while half and u + half > m:
        half //= 2
    return [*found, u + half] if half else found


def _inner_colour(u: int, m: int) -> int:
    flips = 0
    while above := _above(u, m):
        flips += (above > u) + m // 2
        u = above
    return flips % 2
