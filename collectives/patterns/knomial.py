"""The k-nomial tree: a binomial tree with k-1 children on each level; shared by bcast, reduce, gather and scatter.

With relative rank v = (rank - root) mod p and w the highest power of k that divides v, the parent of v is v minus its
lowest nonzero digit in base k, and the subtree of v is the run v .. v + w - 1, limited to p. For k = 2 it is the binomial
tree of `trees`.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial
from typing import Literal, TypeAlias

from collectives.catalogue.algorithm import Case
from collectives.catalogue.schedule import Seconds, message
from collectives.patterns.run_trees import RunTree, TreeChild, TreeNode

RADIX = 4
"""The default of k, as in Open MPI."""

ChildOrder: TypeAlias = Literal["descending", "ascending"]
"""The order in which a rank sends to its children on one level."""


def radix_too_small(case: Case) -> str | None:
    """`why_unsupported` of an algorithm with a parameter k of at least 2."""
    k = case.parameters.get("k", RADIX)
    return None if k >= 2 else f"k = {k} is less than 2"


def levels(p: int, k: int) -> int:
    """Number of levels: the smallest d with k^d >= p.

    >>> [levels(p, 3) for p in (1, 2, 3, 4, 9, 10)]
    [0, 1, 1, 2, 2, 3]
    """
    depth, nodes = 0, 1
    while nodes < p:
        depth, nodes = depth + 1, nodes * k
    return depth


@lru_cache(maxsize=8192)
def knomial_node(k: int, ascending: bool, v: int, p: int) -> TreeNode:
    """The node of relative rank v. With `ascending`, the children of one level are in ascending order.

    >>> [child.position for child in knomial_node(3, False, 0, 10).children], knomial_node(3, False, 6, 10).size
    ([9, 6, 3, 2, 1], 3)
    >>> [child.position for child in knomial_node(3, True, 0, 10).children]
    [9, 3, 6, 1, 2]
    """
    width = k ** levels(p, k) if v == 0 else 1
    while v and v % (width * k) == 0:
        width *= k
    parent = v - v % (width * k) if v else None
    children = []
    child_width = width // k
    while child_width:
        positions = [v + j * child_width for j in range(k - 1, 0, -1) if v + j * child_width < p]
        positions = positions[::-1] if ascending else positions
        children += [TreeChild(child, child, min(child_width, p - child)) for child in positions]
        child_width //= k
    return TreeNode(parent, v, min(width, p - v), tuple(children))


@cache
def knomial_tree(k: int, order: ChildOrder = "descending") -> RunTree:
    """The k-nomial trees of all sizes p. Ascending order is for whole messages from the root only, not for blocks."""
    return RunTree(root=lambda p: 0, node=partial(knomial_node, k, order == "ascending"))


def tree_of_radix(*, k: int = RADIX) -> RunTree:
    """The k-nomial trees, for algorithms with a parameter k."""
    return knomial_tree(k)


def ordered_tree(*, k: int = RADIX, order: ChildOrder = "descending") -> RunTree:
    """The k-nomial trees, for algorithms with parameters k and order."""
    return knomial_tree(k, order)


def full_rounds(case: Case) -> int | None:
    """Number of rounds if p is a power of k; None for other p."""
    k = case.parameters.get("k", RADIX)
    depth = levels(case.p, k)
    return depth * (k - 1) if k**depth == case.p else None


def full_message_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """Time of a broadcast or reduction of m bytes if p is a power of k."""
    rounds = full_rounds(case)
    return None if rounds is None else rounds * message(case.m, t_s, t_w)


def full_blocks_time(case: Case, t_s: Seconds, t_w: Seconds) -> Seconds | None:
    """Time of a gather or scatter of blocks of m bytes if p is a power of k."""
    rounds = full_rounds(case)
    return None if rounds is None else (rounds * t_s + (case.p - 1) * case.m * t_w) * (case.m > 0)
