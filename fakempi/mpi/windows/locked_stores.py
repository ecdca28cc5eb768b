"""Conflicts between a rank's stores to its own window and accesses of other ranks under locks, found by comparing memory.

A store by the program can only be detected as changed memory. A copy of the memory is therefore kept; a change that no
MPI operation made is a store. A store conflicts with an access to the same bytes if no synchronization can order them:

- the access was in progress when the store happened;
- the store happened before the access, and the storing rank has not synchronized since (`MemoryInUse.until_informed`);
- the store happened after the access, and the accessing rank has not synchronized since.

Loads cannot be detected, and neither can stores that do not change the memory. The copy is renewed at the first access after
the storing rank has synchronized with other ranks. Stores since the last comparison are then not detected, because they may
precede the synchronization. Memory of more than `MAX_BYTES` is not compared, because copying it would take too long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fakempi.mpi.windows.races import MemoryAccess, place_text

MAX_BYTES = 1 << 16
"""Largest size of a rank's window memory that is compared, in bytes."""


class LockedStores:
    """The stores of one rank to its part of a window."""

    __slots__ = ("expected", "is_shared", "part", "unknown")

    def __init__(self, part: Any, is_shared: Callable[[], bool]) -> None:
        self.part, self.is_shared = part, is_shared
        self.renew()

    def renew(self) -> None:
        """Treat all stores so far as ordered before all later accesses."""
        self.expected = self.part.memory.copy()
        # True until this rank synchronizes with another rank.
        self.unknown = self.part.process.buffer_checks.until_informed()

    def note(self, access: MemoryAccess) -> None:
        """Check an access that starts. Stores are ordered before it if this rank has synchronized since the last renewal."""
        self.check_past()
        if self.unknown():
            self.check(access)
        else:
            self.renew()

    def check(self, access: MemoryAccess) -> None:
        """Report a store to the bytes of an access, if there was one since the last comparison of these bytes."""
        low, high = access.low, access.high
        memory, expected = self.part.memory, self.expected
        changed = np.flatnonzero(memory[low:high] != expected[low:high])
        if changed.size:
            expected[low:high] = memory[low:high]
            first, last = low + int(changed[0]), low + int(changed[-1]) + 1
            number, accesses = self.part.process.number, self.part.accesses
            by_mpi_call = access.number == number or accesses.written_by_calls(first, last)
            if not by_mpi_call and not self.is_shared() and not accesses.has_unmatched_sends(number):
                self._report(access, first, last)

    def check_past(self) -> None:
        """Report stores to the bytes of past accesses whose end this rank cannot know of."""
        accesses = self.part.accesses
        if accesses is not None:
            for access, unknown in accesses.past:
                if access.period.by_lock and unknown():
                    self.check(access)

    def took_effect(self, low: int, high: int) -> None:
        """Update the copy after an operation has changed the memory."""
        self.expected[low:high] = self.part.memory[low:high]

    def _report(self, access: MemoryAccess, low: int, high: int) -> None:
        process = self.part.process
        sentence = (
            f"conflicts with a store of {{others}} to bytes {low} to {high} of its own window: no lock and no message "
            "orders the two."
        )
        process.universe.report(
            "window-race", access.number, sentence, (process.number,), call=access.call, place=place_text(access.place),
            wrong_data=True,
        )  # fmt: skip
