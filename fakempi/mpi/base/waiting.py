"""How a rank waits: for one operation, for two, for all or for any of many.

An operation is an envelope, a pattern, or anything else with an `end` that is None until it is known and a `waiter` that
is told (`settled(end)`) when it becomes known. A rank that waits for all of several is booked once, for the latest end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fakempi.kernel.loop import Loop


class Completion:
    """An operation without a message: a meeting of ranks, or a child task's work."""

    __slots__ = ("end", "error", "origin", "result", "waiter", "why")

    origin: Any  # where the program began it, if there is a request

    def __init__(self, why: Any = None) -> None:
        self.end: Any = None
        self.waiter: Any = None
        self.error: Any = None
        self.result: Any = None
        self.why = why  # what it is part of, for whoever asks why nothing moves

    def complete(self, end: Any) -> None:
        """It ends at the given time."""
        self.end = end
        if self.waiter is not None:
            self.waiter.settled(end)


class Reason:
    """Why something takes its time, for a report: what a `Completion` is part of, if others have to do something."""

    __slots__ = ()

    def in_words(self) -> str:
        """What has to happen."""
        raise NotImplementedError

    def awaits(self) -> tuple[int, ...]:
        """The process that has to do it, if it is one."""
        raise NotImplementedError


class Awaited:
    """Something that is not MPI's, for which a task waits in the loop: a lock, an item of a queue, another thread."""

    __slots__ = ("end",)

    def __init__(self) -> None:
        self.end: Any = None

    def in_words(self) -> str:
        """What it is, for a report; empty if its call says all."""
        raise NotImplementedError

    def awaits(self) -> tuple[int, ...]:
        """The process on which it depends, if that is another one."""
        raise NotImplementedError


class AllOf:
    """Several operations as one, which ends with the last of them."""

    __slots__ = ("awaited", "end", "operations", "origin", "waiter")

    origin: Any

    def __init__(self, operations: Sequence[Any]) -> None:
        self.operations = operations
        self.waiter: Any = None
        self.end: Any = 0
        pending = [operation for operation in operations if operation.end is None]
        self.awaited = len(pending) + 1
        for operation in pending:
            operation.waiter = self
        self.settled(0)

    def settled(self, end: Any) -> None:
        """One of them will have ended then; with the last one all is known."""
        self.awaited -= 1
        if self.awaited:
            self.end = None
        else:
            self.end = max((operation.end for operation in self.operations), default=0)
            if self.waiter is not None:
                self.waiter.settled(self.end)


def error_of(operation: Any) -> Any:
    """What went wrong with several operations that are waited for as one, of those that are no messages."""
    errors = (part.error for part in parts_of(operation) if part.__class__ is Completion)
    return next((error for error in errors if error is not None), None)


def parts_of(operation: Any) -> Sequence[Any]:
    """The operations that one consists of; itself, if it is only one."""
    return operation.operations if operation.__class__ is AllOf else (operation,)


def wait_one(loop: Loop, operation: Any) -> None:
    """Wait until an operation has ended."""
    end = operation.end
    if end is None:
        task: Any = loop.running
        task.awaited = 1
        task.since = task.until = loop.now
        task.reason = operation
        operation.waiter = task
        loop.wait()
    elif end > loop.now and loop.defer(end):
        loop.wait()


def wait_two(loop: Loop, first: Any, second: Any) -> None:
    """Wait until both have ended: `wait_all` without a list, for Sendrecv."""
    one, two = first.end, second.end
    if one is not None and two is not None:
        until = one if one > two else two
        if until > loop.now and loop.defer(until):
            loop.wait()
        return
    task: Any = loop.running
    task.since = until = loop.now
    awaited = 0
    if one is None:
        first.waiter = task
        awaited = 1
    elif one > until:
        until = one
    if two is None:
        second.waiter = task
        awaited += 1
    elif two > until:
        until = two
    task.awaited, task.until = awaited, until
    task.reason = (first, second)
    loop.wait()


def wait_all(loop: Loop, operations: Sequence[Any]) -> None:
    """Wait until all have ended."""
    pending = list(dict.fromkeys(operation for operation in operations if operation.end is None))
    if pending:
        task: Any = loop.running
        task.awaited = len(pending)
        task.since = task.until = loop.now
        task.reason = tuple(pending)
        for operation in pending:
            operation.waiter = task
        loop.wait()
    latest = max((operation.end for operation in operations), default=loop.now)
    if latest > loop.now:
        loop.sleep_until(latest)


class FirstOf:
    """Waits for the first of several operations to end, which need not be the first whose end is known."""

    __slots__ = ("done", "loop", "task")

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.task = loop.running
        self.done = False

    def settled(self, end: Any) -> None:
        """One will have ended then: look again at that time, unless another came first."""
        self.loop.book(end, self._alarm)

    def _alarm(self) -> None:
        if not self.done:
            self.done = True
            assert self.task is not None
            self.loop.book(self.loop.now, self.task)


def wait_any(loop: Loop, operations: Sequence[Any]) -> None:
    """Wait until at least one has ended."""
    now = loop.now
    if any(operation.end is not None and operation.end <= now for operation in operations):
        return
    first = FirstOf(loop)
    assert loop.running is not None
    loop.running.reason = ("any", *operations)
    loop.running.since = loop.now
    for operation in operations:
        if operation.end is None:
            operation.waiter = first
        else:
            first.settled(operation.end)
    loop.wait()
    first.done = True
    for operation in operations:
        operation.waiter = None
