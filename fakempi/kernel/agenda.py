"""What is booked: items by time, and in booking order among equal times.

Parallel programs move in step, so many items share a time. Each time has a list of its own, and only the times are in a
heap: with 1,024 tasks in step, a heap of (time, number, item) costs a third of the time of a whole message.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

Time = float
"""Seconds of virtual time. Whatever kind of number goes in (int, float, Fraction) comes out: nothing here converts."""

COMPACT = 4096
"""Items taken from a list before its head is cut off, so that a program that never moves in time does not grow."""


class Agenda:
    """Items to be taken in the order of their times; `now` is the time of the last one taken."""

    def __init__(self) -> None:
        self.now: Time = 0
        self.shuffle: Callable[[list[Any]], None] | None = None  # if set, ties are broken by it, not by booking order
        self.clear()

    def clear(self) -> None:
        """Forget everything that is booked."""
        self.today: list[Any] = []  # the items of now
        self.taken = self.cut_off = 0  # of today
        self.lists: dict[Time, list[Any]] = {self.now: self.today}
        self.times: list[Time] = []  # the later ones that have a list, as a heap

    def book(self, at: Time, item: Any) -> None:
        """Put an item behind all others of its time, which must not be in the past."""
        items = self.lists.get(at)
        if items is None:
            self.lists[at] = [item]
            heappush(self.times, at)
        else:
            items.append(item)

    def take(self) -> Any:
        """The next item, and move to its time; None if there is none."""
        today, taken = self.today, self.taken
        if taken < len(today):
            if taken == COMPACT:
                del today[:taken]
                self.cut_off += taken
                taken = 0
            self.taken = taken + 1
            return today[taken]
        if not self.times:
            return None
        del self.lists[self.now]
        self.now = heappop(self.times)
        self.today, self.taken = self.lists[self.now], 1
        if self.shuffle is not None:
            self.shuffle(self.today)
        return self.today[0]

    def jump(self, at: Time) -> bool:
        """Move to a later time, if nothing is booked until then."""
        if self.taken < len(self.today) or (self.times and self.times[0] <= at):
            return False
        del self.lists[self.now]
        self.now, self.taken = at, 0
        self.today = self.lists[at] = []
        return True
