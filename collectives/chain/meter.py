"""Counter of the items that a process holds. Algorithms on chains update it, and verification compares it with claims.

One unit is one item of any size: a color, key, rank and address together; an address; or an entry of a table of bins. The
process's own item counts as one, and a buffer for the item of another process counts as one. If an algorithm holds many
items, their copies in messages are not counted. Algorithms report comparisons and moves of items to a function of type
`WorkCallback`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

WorkCallback: TypeAlias = Callable[[int], object] | None
"""Called with a number of comparisons or moves of items, so that the emulator can charge their cost; None: not reported."""


class ItemMeter:
    """The number of items held now, and its maximum.

    >>> meter = ItemMeter()
    >>> meter.take(3); meter.drop(2); meter.take(1)
    >>> meter.held, meter.peak
    (2, 3)
    """

    __slots__ = ("held", "peak")

    def __init__(self) -> None:
        self.held = 0
        self.peak = 0

    def take(self, count: int) -> None:
        """Record `count` more items."""
        self.held += count
        if self.held > self.peak:
            self.peak = self.held

    def drop(self, count: int) -> None:
        """Record the release of `count` items."""
        self.held -= count


class NullMeter(ItemMeter):
    """A meter that records nothing."""

    __slots__ = ()

    def take(self, count: int) -> None:
        """Do nothing."""

    def drop(self, count: int) -> None:
        """Do nothing."""


NO_METER = NullMeter()
