"""The agenda: tasks and actions by time. To book an item is to add it. Items of equal time are taken in booking order.

Many items share a time, so only times are in a heap. With 1,024 tasks in step, a heap of items takes a third of all time.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

Time = float  # seconds of virtual time; ints and Fractions are not converted

COMPACT = 4096  # items taken from a list before its head is deleted: bounds the memory of a run whose time never advances


class Agenda:
    """Tasks and actions to run. `now` is the time of the last item that was taken."""

    def __init__(self) -> None:
        self.now: Time = 0
        self.shuffle: Callable[[list[Any]], None] | None = None  # if set, it orders the items of a time
        self.clear()

    def clear(self) -> None:
        """Delete all bookings."""
        self.due: list[Any] = []  # the items of the present time, also those that were taken
        self.due_index = self.dropped = 0  # the next item of `due`, and how many were deleted from its head
        self.items_at: dict[Time, list[Any]] = {self.now: self.due}  # time -> its items
        self.times: list[Time] = []  # the later times in `items_at`, as a heap

    def run_at(self, at: Time, item: Any) -> None:
        """Add an item after all others of its time, which must not be in the past."""
        items = self.items_at.get(at)
        if items is None:
            self.items_at[at] = [item]
            heappush(self.times, at)
        else:
            items.append(item)

    def pop(self) -> Any:
        """Move to the time of the next item and return the item; None if there is none."""
        due, due_index = self.due, self.due_index
        if due_index < len(due):
            if due_index == COMPACT:
                del due[:due_index]
                self.dropped += due_index
                due_index = 0
            self.due_index = due_index + 1
            return due[due_index]
        if not self.times:
            return None
        del self.items_at[self.now]
        self.now = heappop(self.times)
        self.due, self.due_index = self.items_at[self.now], 1
        if self.shuffle is not None:
            self.shuffle(self.due)
        return self.due[0]

    def jump(self, at: Time) -> bool:
        """Move to a later time, unless something is booked until then; return whether the time has moved."""
        if self.due_index < len(self.due) or (self.times and self.times[0] <= at):
            return False
        del self.items_at[self.now]
        self.now, self.due_index = at, 0
        self.due = self.items_at[at] = []
        return True
