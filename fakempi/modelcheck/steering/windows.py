"""Choice points of windows: the order in which ranks acquire a lock, and the order of atomic operations.

All accesses to one target process are one resource, because windows may overlap. Other ranks observe the effects in memory,
which is not tracked: dependencies are unknown, and all orders are explored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fakempi.modelcheck.steering.points import Point

EXCLUSIVE_BETWEEN_SHARED = "an exclusive window lock that is granted between earlier requests for shared locks"
"""Not explored: the search grants shared requests together if no exclusive request is between them."""


class WindowPoint(Point):
    """An access of one process to a target's part of a window."""

    def __init__(self, choices: Any, origin: Any, target: Any, call_site: tuple[str, str]) -> None:
        process, target_process = origin.process, target.process
        arrived = choices.at_windows.setdefault(target_process.number, [])
        number = sum(point.process is process for point in arrived)
        super().__init__(choices, (process.number, target_process.number, "window", number), process, 0, call_site)
        self.resource = ("window", target_process.number)
        self.arrived: list[Any] = arrived
        arrived.append(self)
        choices.untracked_effects.add("window locks")
        self.target = target_process.name

    def late(self) -> Iterator[int | None]:
        """Yield None, an unknown past, for each later access by another process."""
        yield from (None for point in self.arrived[self.since :] if point.process is not self.process)

    def begin(self) -> None:
        """Record the decision: accesses that arrive from now on are late, and the effects may reach every rank."""
        self.since = len(self.arrived)
        self.choices.influence_all()


class WindowLock(WindowPoint):
    """A requested window lock, exclusive or shared."""

    def __init__(self, choices: Any, lock: Any, grant: Any) -> None:
        super().__init__(choices, grant.channel.sender, lock.part, ("Lock", grant.place))
        self.lock, self.grant = lock, grant
        if grant.exclusive and lock in choices.shared_locks:
            choices.note_unexplored(EXCLUSIVE_BETWEEN_SHARED)

    def _granted_together(self) -> list[Any]:
        """Return the requests that are granted together: all shared ones if no exclusive one waits."""
        queue = list(self.lock.queue)
        if self.grant.exclusive or any(grant.exclusive for grant in queue):
            return [self.grant]
        return queue if queue and queue[0] is self.grant else []

    def values(self) -> list[tuple[Any, Any]]:
        """Return one value if the lock can be granted."""
        lock, grant = self.lock, self.grant
        if grant not in lock.queue or (lock.holders and (lock.exclusive or grant.exclusive)):
            return []
        return [("lock", together)] if (together := self._granted_together()) else []

    def has_blocked_value(self) -> bool:
        """Whether an exclusive request waits that cannot be granted now."""
        return bool(self.lock.holders) and any(grant.exclusive for grant in self.lock.queue)

    def take(self, value: Any, bit: int) -> int:
        """Grant the lock."""
        self.begin()
        if len(value) > 1:
            self.choices.shared_locks.add(self.lock)
        for grant in value:
            self.lock.grant_lock(grant)
        return 0

    def describe(self, value: Any) -> tuple[str, str]:
        """Return "acquired" and the lock."""
        return "acquired", f"the lock on {self.target}"


class AtomicOperation(WindowPoint):
    """An atomic operation; operations of one process keep their order."""

    def __init__(self, choices: Any, operation: Any, call_site: tuple[str, str], go: Callable[[], None]) -> None:
        super().__init__(choices, operation.route.sender, operation.route.receiver, call_site)
        self.operation, self.go = operation, go

    def values(self) -> list[tuple[Any, Any]]:
        """Return one value if it is the first operation of its process."""
        before = (
            point for point in self.choices.points if isinstance(point, AtomicOperation) and point.process is self.process
        )
        return [("go", True)] if next(point for point in before if point.resource == self.resource) is self else []

    def take(self, value: Any, bit: int) -> int:
        """Carry out the operation before any other choice."""
        self.begin()
        self.go()
        return 0

    def describe(self, value: Any) -> tuple[str, str]:
        """Return "reached" and the target."""
        return "reached", self.target
