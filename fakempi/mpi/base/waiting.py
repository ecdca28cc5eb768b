"""Waits of a rank: for one operation, for two, for all of several, or for any of several.

An operation is an envelope, a receive, or another object with an `end`, which is None until it is known, and a `waiter`,
whose method `settled(end)` is called when it becomes known. A rank that waits for all of several operations is booked once,
for the latest end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fakempi.core.kernel.agenda import Agenda, Time
from fakempi.core.kernel.loop import Loop
from fakempi.core.kernel.task import Task
from fakempi.core.network.envelope import Envelope, PostedReceive
from fakempi.core.reports.dependencies import ProgramStep
from fakempi.errors import MPIError
from fakempi.mpi.base.unbuffered import follow_if_buffered
from fakempi.mpi.interfaces.operations import Operation, Waiter
from fakempi.mpi.interfaces.records import CallSite


class Completion:
    """An operation without a message: a rendezvous, or the work of a child task."""

    __slots__ = ("call_site", "end", "error", "needs", "result", "waiter", "why")

    call_site: CallSite  # the call that started it, if there is a request
    needs: ProgramStep | None  # the steps on which it depends without buffering, if they are recorded

    def __init__(self, why: object = None) -> None:
        self.end: Time | None = None
        self.waiter: Waiter | None = None
        self.error: Any = None  # an MPIError, or the FailedPayload of a window
        self.result: Any = None  # the result of the work, of any type
        self.why = why  # the operation of which it is a part, for reports of blocked ranks

    def complete(self, end: Time) -> None:
        """Set the time at which it ends, and notify the waiter."""
        self.end = end
        if self.waiter is not None:
            self.waiter.settled(end)


class Reason:
    """The cause of a wait, for reports: the operation of which a `Completion` is a part, if it depends on other ranks."""

    __slots__ = ()

    def describe(self) -> str:
        """Return a description of the event that has to happen."""
        raise NotImplementedError

    def awaits(self) -> tuple[int, ...]:
        """Return the number of the process that has to cause the event, if it is one process."""
        raise NotImplementedError


class Awaited:
    """An event outside MPI for which a task waits in the loop: a lock, an item of a queue, another thread."""

    __slots__ = ("end",)

    def __init__(self) -> None:
        self.end: Time | None = None

    def describe(self) -> str:
        """Return its description for a report; empty if the name of the call is sufficient."""
        raise NotImplementedError

    def awaits(self) -> tuple[int, ...]:
        """Return the number of the process on which it depends, if that is another process."""
        raise NotImplementedError


class AllOf:
    """Several operations as one operation, which ends with the last of them."""

    __slots__ = ("awaited", "call_site", "end", "operations", "waiter")

    call_site: CallSite

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations
        self.waiter: Waiter | None = None
        self.end: Time | None = 0
        pending = [operation for operation in operations if operation.end is None]
        self.awaited = len(pending) + 1
        for operation in pending:
            operation.waiter = self
        self.settled(0)

    def settled(self, end: Time) -> None:
        """Record the end of one of the operations; the last one determines the end of all."""
        self.awaited -= 1
        if self.awaited:
            self.end = None
        else:
            last: Time = max((operation.end for operation in self.operations), default=0)  # type: ignore[type-var, assignment]  # operations that have ended have an end
            self.end = last
            if self.waiter is not None:
                self.waiter.settled(last)


def error_of(operation: Operation) -> MPIError | None:
    """Return the error of an operation, or of its first part with an error. Only a `Completion` has errors."""
    errors = (part.error for part in parts_of(operation) if part.__class__ is Completion)
    return next((error for error in errors if error is not None), None)


def parts_of(operation: Operation) -> Sequence[Operation]:
    """Return the parts of an operation; an operation without parts is its own part."""
    return operation.operations if isinstance(operation, AllOf) else (operation,)


def wait_one(loop: Loop, operation: Operation) -> None:
    """Wait until an operation ends."""
    end = operation.end
    if end is None:
        task: Task = loop.running  # type: ignore[assignment]  # a rank runs, because it waits
        task.awaited = 1
        task.since = task.until = loop.now
        task.reason = operation
        operation.waiter = task
        loop.wait()
    elif end > loop.now and loop.defer(end):
        loop.wait()
    if loop.wait_tracker is not None:
        loop.wait_tracker.ended(operation)
    elif operation.__class__ is Envelope and operation.payload is not None:
        follow_if_buffered(operation)


def wait_two(loop: Loop, first: Envelope, second: PostedReceive) -> bool:
    """Wait until a send and a receive end: `wait_all` without a list, for Sendrecv.

    Return whether the message that was sent has not been received, so its payload is still the sender's buffer.
    """
    first_end, second_end = first.end, second.end
    task: Task = loop.running  # type: ignore[assignment]  # a rank runs, because it waits
    if first_end is None and second_end is None:  # nearly every call
        task.since = task.until = loop.now
        task.awaited = 2
        task.reason = (first, second)
        first.waiter = second.waiter = task
        loop.wait()
    elif first_end is None or second_end is None:
        known: Time = second_end if first_end is None else first_end
        task.since = now = loop.now
        task.until = known if known > now else now
        task.awaited = 1
        task.reason = (first, second)
        (first if first_end is None else second).waiter = task
        loop.wait()
    else:
        until = first_end if first_end > second_end else second_end
        if until > loop.now and loop.defer(until):
            loop.wait()
    if loop.wait_tracker is None and first.payload is None:
        return False
    _ended(loop, (first, second))
    return first.payload is not None


def wait_all(loop: Loop, operations: Sequence[Operation]) -> None:
    """Wait until all operations end."""
    pending = list(dict.fromkeys(operation for operation in operations if operation.end is None))
    if pending:
        task: Task = loop.running  # type: ignore[assignment]  # a rank runs, because it waits
        task.awaited = len(pending)
        task.since = task.until = loop.now
        task.reason = tuple(pending)
        for operation in pending:
            operation.waiter = task
        loop.wait()
    latest: Time = max((operation.end for operation in operations), default=loop.now)  # type: ignore[type-var, assignment]  # operations that have ended have an end
    if latest > loop.now:
        loop.sleep_until(latest)
    _ended(loop, operations)


def _ended(loop: Loop, operations: Sequence[Operation]) -> None:
    """Record for the check of unsafe sends that the running task has waited for all operations."""
    for operation in operations:
        if loop.wait_tracker is not None:
            loop.wait_tracker.ended(operation)
        elif operation.__class__ is Envelope and operation.payload is not None:
            follow_if_buffered(operation)


class FirstOf:
    """Waits for the first of several operations to end. It need not be the first whose end becomes known."""

    __slots__ = ("done", "loop", "task")

    def __init__(self, loop: Agenda, task: Any) -> None:
        self.loop = loop
        self.task = task
        self.done = False

    def settled(self, end: Time) -> None:
        """Wake the task when one of the operations ends, unless another one has ended before."""
        self.loop.call_at(end, self._wake)

    def _wake(self) -> None:
        if not self.done:
            self.done = True
            self.loop.run_at(self.loop.now, self.task)


def book_first(agenda: Agenda, operations: Sequence[Operation], task: Any, item: Any) -> FirstOf | None:
    """Book an item of the agenda for the first end of an operation, for which a task waits; None if one has ended."""
    if any(operation.end is not None and operation.end <= agenda.now for operation in operations):
        return None
    first = FirstOf(agenda, item)
    task.reason, task.since = ("any", *operations), agenda.now
    for operation in operations:
        if operation.end is None:
            operation.waiter = first
        else:
            first.settled(operation.end)
    return first


def wait_any(loop: Loop, operations: Sequence[Operation]) -> None:
    """Wait until at least one operation ends."""
    first = book_first(loop, operations, loop.running, loop.running)
    if first is None:
        return
    loop.wait()
    first.done = True
    for operation in operations:
        operation.waiter = None
    if len(operations) == 1:
        _ended(loop, operations)
