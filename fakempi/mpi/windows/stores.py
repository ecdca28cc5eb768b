"""Conflicts between a rank's stores to its own window and accesses of other ranks, in epochs of Fence and Post.

A store can only be detected as changed memory. The memory is therefore copied when an epoch begins, and differences that no
operation made are stores. A store conflicts with every access of the epoch that began before it. It also conflicts with a
later access, unless this rank may have synchronized with other ranks in between, by a message, another collective call, or
`Sync`; this exception avoids false reports. Loads cannot be detected. The check runs only with `check_buffers=True`, in
strict runs and in tests, because each epoch costs a copy of the window. `locked_stores` checks stores under locks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi.mpi.windows.locked_stores import MAX_BYTES, LockedStores
from fakempi.mpi.windows.operations import WindowOperation
from fakempi.mpi.windows.races import CALLS, MemoryAccess, SourceLine, pieces_of, place_text, ranges_text

AccessRecord = tuple[Any, int, int, SourceLine]
"""Bytes, kind, process, and location in the program."""


class Stores:
    """The stores of one rank to its part of a window."""

    __slots__ = ("accesses", "early", "expected", "informed", "part", "since", "under_locks")

    def __init__(self, part: Any) -> None:
        self.part = part
        self.expected: Any = None  # expected content of the memory; None outside an epoch
        self.since: tuple[str, SourceLine] = ("", None)  # type: ignore[assignment]  # call and location of the epoch's start
        self.informed: Any = None  # count of messages before the epoch; at its end, whether there were more
        self.accesses: list[AccessRecord] = []  # of the epoch
        self.early: list[AccessRecord] = []  # by ranks that left the fence before this rank
        self.under_locks = LockedStores(part, self._is_shared) if part.size <= MAX_BYTES else None

    def begin(self, call: str, place: SourceLine) -> None:
        """Begin an epoch in which other ranks may access the memory."""
        self.expected, self.since, self.informed = self.part.memory.copy(), (call, place), self._informed_count()
        self.accesses, self.early = self.early if call == "Fence" else [], []

    def note(self, access: AccessRecord, epoch: Any) -> None:
        """Record the start of an access, and check for stores before it."""
        if self._concerns(epoch):
            self.accesses.append(access)
            self.check(access, silent=self._may_be_ordered())
        elif epoch.__class__ is int:
            self.early.append(access)

    def check(self, access: AccessRecord, until: str = "", silent: bool = False) -> None:
        """Report a store of this rank to the bytes of an access, once."""
        memory, expected = self.part.memory, self.expected
        found: list[tuple[int, int]] = []
        for low, high in pieces_of(access[0]):
            changed = np.flatnonzero(memory[low:high] != expected[low:high])
            if changed.size:
                expected[low:high] = memory[low:high]
                first, last = low + int(changed[0]), low + int(changed[-1]) + 1
                accesses, number = self.part.accesses, self.part.process.number
                by_mpi_call = accesses.written_by_calls(first, last) or accesses.has_unmatched_sends(number)
                if not silent and not by_mpi_call and not self._is_shared():
                    found.append((first, last))
        if found:
            self._report(access, ranges_text(found), until)

    def around(self, operation: WindowOperation) -> None:
        """Apply an operation, whose change of memory is not a store."""
        if self._concerns(operation.epoch):
            self.check(operation.access)
        low, high, _ = operation.access[0]
        locked = self.under_locks if operation.epoch.__class__ is not int and not operation.epoch.awaits_post else None
        if locked is not None:
            (_, kind, number, place) = operation.access
            for first, last in pieces_of(operation.access[0]):
                locked.check(MemoryAccess(first, last, kind, number, place, None))
        operation.apply()
        if self.expected is not None:
            self.expected[low:high] = self.part.memory[low:high]
        if locked is not None:
            locked.took_effect(low, high)

    def sync(self) -> None:
        """Treat stores before a Sync as ordered before later accesses."""
        self.check_past()
        if self.under_locks is not None:
            self.under_locks.renew()
        if self.expected is not None:
            for access in self.accesses:
                self.check(access)
            self.expected = self.part.memory.copy()

    def end(self, call: str, place: SourceLine) -> None:
        """Check all stores of the epoch when this rank ends it; later stores are allowed."""
        if self.expected is None:
            return
        self.informed = self._may_be_ordered()  # the call that ends the epoch does not count
        if not np.array_equal(self.expected, self.part.memory):
            for access in self.accesses:
                self.check(access, f" and before {call} at {place_text(place)}")

    def check_past(self) -> None:
        """Check at an MPI call of this rank for stores to bytes that others have accessed under locks."""
        if self.under_locks is not None:
            self.under_locks.check_past()

    def leave(self) -> None:
        """Record that the epoch is over, and no other has begun."""
        self.expected, self.accesses = None, []

    def _concerns(self, epoch: Any) -> bool:
        """Whether an operation belongs to the epoch that is checked."""
        if self.expected is None:
            return False
        if epoch.__class__ is int:
            return self.since[0] == "Fence" and epoch == self.part.fence_count & 1
        return self.since[0] == "Post" and epoch.awaits_post

    def _may_be_ordered(self) -> bool:
        """Whether other ranks may know what this rank has stored in the epoch."""
        return self.informed if self.informed.__class__ is bool else self.informed != self._informed_count()

    def _informed_count(self) -> tuple[int, int]:
        return self.part.process.buffer_checks.outgoing()  # type: ignore[no-any-return]  # the attribute is Any

    def _is_shared(self) -> bool:
        """Whether the memory overlaps with another part of a window, through which it may have been changed."""
        part = self.part
        low, high = part.base, part.base + part.size
        others = (other for window in part.window.all_windows() for other in window.parts if other is not part)
        return any(other.size and other.base < high and low < other.base + other.size for other in others)

    def _report(self, access: AccessRecord, where: str, until: str) -> None:
        (_, kind, number, place), process = access, self.part.process
        sentence = (
            f"conflicts with a store of {{others}} after {self.since[0]} at {place_text(self.since[1])}{until}, to {where} "
            f"of its own window: both are in one epoch, and nothing orders them."
        )
        process.universe.report(
            "window-race", number, sentence, (process.number,), call=CALLS[kind], place=place_text(place), wrong_data=True
        )  # fmt: skip
