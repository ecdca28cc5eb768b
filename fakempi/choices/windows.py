"""What windows leave open: who gets a lock next, and whose atomic operation is carried out first.

All that goes to one process is one resource, since windows may overlap there. What comes of it others learn from memory, of
which nobody keeps account: so nothing is known of what hangs on it, and everything is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fakempi.choices.points import Point

SHARED = "who gets a lock for itself between others that share it, and asks later than they,"
"""Is not explored: those that share a lock, with nobody in between when it is granted, get it at once."""


class AtWindow(Point):
    """Something of one process that waits for its turn at a target's part of a window."""

    def __init__(self, choices: Any, origin: Any, target: Any, site: tuple[str, str]) -> None:
        here, there = origin.process, target.process
        came = choices.at_windows.setdefault(there.number, [])
        number = sum(one.process is here for one in came)
        super().__init__(choices, (here.number, there.number, "window", number), here, 0, site)
        self.resource = ("window", there.number)
        self.came: list[Any] = came
        came.append(self)
        choices.unseen.add("windows' locks")
        self.target = there.name

    def late(self) -> Iterator[int | None]:
        """Whoever came later, of other processes."""
        yield from (None for one in self.came[self.since :] if one.process is not self.process)

    def begin(self) -> None:
        """It is decided."""
        self.since = len(self.came)
        self.choices.everybody()


class Grant(AtWindow):
    """A lock that a process has asked for, for itself or to share it with others."""

    def __init__(self, choices: Any, lock: Any, permit: Any) -> None:
        super().__init__(choices, permit.lane.here, lock.part, ("Lock", permit.site))
        self.lock, self.permit = lock, permit
        if permit.exclusive and lock in choices.shared_locks:
            choices.leaves_out(SHARED)

    def _together(self) -> list[Any]:
        """Those who get it now: all that would share it, if nobody wants it for itself."""
        queue = list(self.lock.queue)
        if self.permit.exclusive or any(permit.exclusive for permit in queue):
            return [self.permit]
        return queue if queue and queue[0] is self.permit else []

    def values(self) -> list[tuple[Any, Any]]:
        """It, if it can be had."""
        lock, permit = self.lock, self.permit
        if permit not in lock.queue or (lock.holders and (lock.exclusive or permit.exclusive)):
            return []
        return [("lock", together)] if (together := self._together()) else []

    def hides(self) -> bool:
        """Whether somebody waits who cannot have it now, and could before, or when others have given it back."""
        return bool(self.lock.holders) and any(permit.exclusive for permit in self.lock.queue)

    def take(self, value: Any, bit: int) -> int:
        """They have it."""
        self.begin()
        if len(value) > 1:
            self.choices.shared_locks.add(self.lock)
        for permit in value:
            self.lock.grant(permit)
        return 0

    def words(self, value: Any) -> tuple[str, str]:
        """It got the lock."""
        return "got", f"the lock on {self.target}"


class Turn(AtWindow):
    """An atomic operation; those of one process come in their order."""

    def __init__(self, choices: Any, operation: Any, site: tuple[str, str], go: Callable[[], None]) -> None:
        super().__init__(choices, operation.way.here, operation.way.there, site)
        self.operation, self.go = operation, go

    def values(self) -> list[tuple[Any, Any]]:
        """It, if none of the same process is before it."""
        before = (one for one in self.choices.points if isinstance(one, Turn) and one.process is self.process)
        return [("go", True)] if next(one for one in before if one.resource == self.resource) is self else []

    def take(self, value: Any, bit: int) -> int:
        """It goes there, and has its effect before anything else is chosen."""
        self.begin()
        self.go()
        return 0

    def words(self, value: Any) -> tuple[str, str]:
        """It was carried out."""
        return "came", f"to {self.target}"
