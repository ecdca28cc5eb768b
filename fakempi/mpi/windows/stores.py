"""What a rank itself writes to its window while others may reach it: bytes that one of them reaches it must leave alone.

Nobody sees a store happen. But what the memory held when the epoch began is kept, and whatever differs from it and was not
brought by an operation is a store. It clashes with every access of the epoch that was begun before; and with a later one
unless this rank may have let others know, by a message, by another call of all, or by `Sync`: so what is told is wrong.
Loads leave no trace. Where locks are used, a store may be in order by what no window knows: only epochs of Fence and
Post are looked at, in strict runs and in tests, since each begins with a copy of the window.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fakempi.mpi.windows.races import CALLS, Place, in_words, runs

Access = tuple[Any, int, int, Place]
"""Which bytes, of what kind, whose, and where in the program."""


class Stores:
    """Of one rank's part of a window."""

    __slots__ = ("accesses", "early", "kept", "part", "since", "told")

    def __init__(self, part: Any) -> None:
        self.part = part
        self.kept: Any = None  # what the memory should hold; None outside of an epoch
        self.since: tuple[str, Place] = ("", None)  # type: ignore[assignment]  # the call that began the epoch, and where
        self.told: Any = None  # how much this rank had told others by then; True or False: whether it has since, all in all
        self.accesses: list[Access] = []  # of the epoch
        self.early: list[Access] = []  # of those who have left the fence before this rank

    def begin(self, call: str, place: Place) -> None:
        """An epoch begins in which others may reach the memory."""
        self.kept, self.since, self.told = self.part.memory.copy(), (call, place), self._has_told()
        self.accesses, self.early = self.early if call == "Fence" else [], []

    def note(self, access: Access, epoch: Any) -> None:
        """An access begins. Has the memory been written to just before?"""
        if self._concerns(epoch):
            self.accesses.append(access)
            self.look(access, silent=self._may_be_ordered())
        elif epoch.__class__ is int:
            self.early.append(access)

    def look(self, access: Access, until: str = "", silent: bool = False) -> None:
        """Has this rank written to what an access reaches? If so that is told, once."""
        memory, kept = self.part.memory, self.kept
        for low, high in runs(access[0]):
            changed = np.flatnonzero(memory[low:high] != kept[low:high])
            if changed.size:
                kept[low:high] = memory[low:high]
                if not silent and not self._is_shared():
                    self._tell(access, low + int(changed[0]), low + int(changed[-1]) + 1, until)
                    return

    def around(self, operation: Any) -> None:
        """An operation has its effect, which is no store."""
        if self._concerns(operation.epoch):
            self.look(operation.access)
        operation.apply()
        if self.kept is not None:
            low, high, _ = operation.access[0]
            self.kept[low:high] = self.part.memory[low:high]

    def sync(self) -> None:
        """Who comes later may be told of what was written before."""
        if self.kept is not None:
            for access in self.accesses:
                self.look(access)
            self.kept = self.part.memory.copy()

    def end(self, call: str, place: Place) -> None:
        """This rank comes to the end of the epoch: what is written later is in order."""
        if self.kept is None:
            return
        self.told = self._may_be_ordered()  # the call that ends the epoch does not count
        if not np.array_equal(self.kept, self.part.memory):
            for access in self.accesses:
                self.look(access, f" and before {call} at {in_words(place)}")

    def leave(self) -> None:
        """The epoch is over, and none has begun."""
        self.kept, self.accesses = None, []

    def _concerns(self, epoch: Any) -> bool:
        """Whether an operation is of the epoch that is looked at."""
        if self.kept is None:
            return False
        if epoch.__class__ is int:
            return self.since[0] == "Fence" and epoch == self.part.round & 1
        return self.since[0] == "Post" and epoch.awaits_post

    def _may_be_ordered(self) -> bool:
        """Whether others may know what this rank has written in the epoch."""
        return self.told if self.told.__class__ is bool else self.told != self._has_told()

    def _has_told(self) -> tuple[int, int]:
        process = self.part.process
        return process.out.sent, process.pins.gathered

    def _is_shared(self) -> bool:
        """Whether the memory is also that of another part, so that what was written may have come by that one."""
        part = self.part
        low, high = part.base, part.base + part.size
        others = (one for window in part.process.universe.windows for one in window.parts if one is not part)
        return any(one.size and one.base < high and low < one.base + one.size for one in others)

    def _tell(self, access: Access, low: int, high: int, until: str) -> None:
        (_, kind, number, place), process = access, self.part.process
        words = (
            f"it clashes with what {{others}} itself wrote there after {self.since[0]} at {in_words(self.since[1])}{until}: "
            f"bytes {low} to {high} of its window, in one epoch, and nothing orders the two."
        )
        process.universe.found(
            "window-race", number, words, (process.number,), call=CALLS[kind], place=in_words(place), at_once=True
        )  # fmt: skip
