"""The agenda: turns of tasks, and actions, by time. To book an item is to add it.

At one time, actions come first, in booking order; then turns, by the time of their booking and by their `order`; then items
that are booked for the present time. If nothing is left and there is `unfinished` work, `finish` is called, which may book
more items for the same time. Only then time advances.

Many items share a time, so only times are in a heap. With 1,024 tasks in step, a heap of items takes a third of all time.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from operator import attrgetter
from typing import Any

Time = float  # seconds of virtual time; ints and Fractions are not converted

ORDER, BOOKED_AND_ORDER = attrgetter("order"), attrgetter("booked", "order")

COMPACT = 4096  # items taken from a list before its head is deleted: bounds the memory of a run whose time never advances


class Agenda:
    """Turns and actions to run. `now` is the time of the last item that was taken."""

    def __init__(self) -> None:
        self.now: Time = 0
        self.shuffle: Callable[[list[Any]], None] | None = None  # if set, it orders the turns of a time
        self.finish_with([], self.clear)
        self.clear()

    def clear(self) -> None:
        """Delete all bookings."""
        self.due: list[Any] = []  # the items of the present time, also those that were taken
        self.due_index = self.dropped = 0  # the next item of `due`, and how many were deleted from its head
        self.items_at: dict[Time, list[Any]] = {self.now: self.due}  # time -> its turns
        self.actions_at: dict[Time, list[Any]] = {}  # later time -> its actions
        self.times: list[Time] = []  # the later times in `items_at`, as a heap
        self.late: list[Any] = []  # turns at the present time, after `finish`

    def finish_with(self, unfinished: list[Any], finish: Callable[[], None]) -> None:
        """Call `finish` before time advances if the list is not empty; it has to empty the list."""
        self.unfinished, self.finish = unfinished, finish

    def run_at(self, at: Time, item: Any) -> None:
        """Add a turn, which has an `order`; at the present time, after all other items. The time must not be in the past."""
        item.booked = self.now
        if (items := self.items_at.get(at)) is None:
            self.items_at[at] = [item]
            heappush(self.times, at)
        else:
            items.append(item)

    def call_at(self, at: Time, action: Callable[[], None]) -> None:
        """Add an action: at a later time before all turns, at the present time after all other items."""
        if (items := self.items_at.get(at)) is None:
            self.items_at[at] = []
            heappush(self.times, at)
        elif items is self.due:
            items.append(action)
            return
        self.actions_at.setdefault(at, []).append(action)

    def is_over(self) -> bool:
        """Finish the work of the present time if no item is left; return whether there is still no item for this time."""
        while self.due_index == len(self.due) and (self.unfinished or self.late):
            if self.unfinished:
                self.finish()
            else:
                self.due += self.late
                self.late.clear()
        return self.due_index == len(self.due)

    def pop(self) -> Any:
        """Move to the time of the next item and return the item; None if there is none."""
        if self.unfinished or self.late:
            self.is_over()
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
        now = self.now = heappop(self.times)
        due = self.due = self.items_at[now]
        if len(due) > 1 and self.shuffle is not None:
            self.shuffle(due)
        elif len(due) > 1:
            due.sort(key=ORDER if due[0].booked == due[-1].booked else BOOKED_AND_ORDER)  # later bookings were added later
        due[:0] = self.actions_at.pop(now, ())
        self.due_index = 1
        return due[0]

    def jump(self, at: Time) -> bool:
        """Move to a later time, unless something is booked until then; return whether the time has moved."""
        if self.due_index < len(self.due) or self.unfinished or self.late or (self.times and self.times[0] <= at):
            return False
        del self.items_at[self.now]
        self.now, self.due_index = at, 0
        self.due = self.items_at[at] = []
        return True
