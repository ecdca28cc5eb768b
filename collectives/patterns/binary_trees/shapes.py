"""The shapes of two binary trees, and the step in which a position receives its first segment."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from collectives.tools.numbers import floor_log2


class Position(NamedTuple):
    """The parent of a position (None at the root), and its children in the order of sending, or receiving in a reduction."""

    parent: int | None
    children: tuple[int, ...]


Shape = Callable[[int, int], Position]
"""A family of trees: the neighbors of position v among p."""


def by_levels(v: int, p: int) -> Position:
    """The neighbors of a position in the tree by levels.

    >>> [by_levels(v, 7) for v in (0, 2, 5)]
    [Position(parent=None, children=(1, 2)), Position(parent=0, children=(4, 6)), Position(parent=1, children=())]
    """
    width = 1 << floor_log2(v + 1)
    parent = width // 2 - 1 + (v + 1 - width) % (width // 2) if v else None
    return Position(parent, tuple(child for child in (v + width, v + 2 * width) if child < p))


def in_order(v: int, p: int) -> Position:
    """The neighbors of a position in the tree in order, whose root is p - 1.

    >>> [in_order(v, 7) for v in (6, 2, 5, 3)]
    [Position(parent=None, children=(5, 2)), Position(parent=6, children=(1, 0)), Position(parent=6, children=(4, 3)), \
Position(parent=5, children=())]
    """
    first, size, parent = 0, p, None
    while v != first + size - 1:
        lower = size // 2
        parent = first + size - 1
        if v < first + lower:
            size = lower
        else:
            first, size = first + lower, size - lower - 1
    lower = size // 2
    upper = size - 1 - lower
    children = ([first + size - 2] if upper else []) + ([first + lower - 1] if lower else [])
    return Position(parent, tuple(children))


def step_down(shape: Shape, v: int, p: int, *, reverse: bool = False) -> int:
    """The step in which position v receives its first segment; -1 at the root. With `reverse`, children in reverse order.

    >>> [step_down(by_levels, v, 7) for v in range(7)]
    [-1, 0, 1, 1, 2, 2, 3]
    """
    step = -1
    while (parent := shape(v, p).parent) is not None:
        children = shape(parent, p).children
        step += 1 + (children[::-1] if reverse else children).index(v)
        v = parent
    return step
