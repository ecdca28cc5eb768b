"""How much a process holds at once: algorithms on chains tell a meter, and their claims are held against it.

What counts is one unit whatever its width: a colour, key, rank and address together are an item; an address is one; an
entry of a table of bins is one. The own item counts, and so does the buffer for somebody else's. Where an algorithm
holds many items, their copies in a message on its way are not counted a second time. What they do with items they tell
a function, `Work`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Work: TypeAlias = Callable[[int], object] | None
"""Told of comparisons and moves of items as they are made, so that the emulator can charge for them."""


class Meter:
    """The number of items held now, and the most that were.

    >>> meter = Meter()
    >>> meter.take(3); meter.drop(2); meter.take(1)
    >>> meter.held, meter.peak
    (2, 3)
    """

    __slots__ = ("held", "peak")

    def __init__(self) -> None:
        self.held = 0
        self.peak = 0

    def take(self, count: int) -> None:
        """So many more are held."""
        self.held += count
        if self.held > self.peak:
            self.peak = self.held

    def drop(self, count: int) -> None:
        """So many are let go."""
        self.held -= count


class Unread(Meter):
    """A meter that nobody reads."""

    __slots__ = ()

    def take(self, count: int) -> None:
        """Nothing."""

    def drop(self, count: int) -> None:
        """Nothing."""


UNREAD = Unread()
