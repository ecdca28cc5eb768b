"""Detect conflicting accesses to the memory of a window that no synchronization orders, and report both source lines.

Two accesses to the same bytes in one epoch conflict if one is a Put, or if one is a Get and the other an Accumulate. Two
Gets do not conflict. Accumulates, and the atomic operations that also fetch, do not conflict with each other.

If buffers are checked, there are two more kinds of access: `READ` and `WRITE`. These are accesses by MPI calls of the
target itself whose buffer lies in its window: a Send or a Put reads the buffer, a Recv or a Get writes it. An access that
has ended stays in `TargetAccesses.past` until the rank that made it synchronizes with another rank. After that, accesses
of other ranks may be ordered after it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import islice
from types import CodeType, FrameType
from typing import Any, NamedTuple

from fakempi.errors.paths import place_at
from fakempi.mpi.base.call_site import is_ours, tie
from fakempi.mpi.base.context import Contexts
from fakempi.mpi.datatypes.typemap import all_runs

PUT, GET, ACCUMULATE, READ, WRITE = range(5)
CALLS = ("Put", "Get", "Accumulate")
_CONFLICTS = {
    PUT: (PUT, GET, ACCUMULATE, READ, WRITE),
    GET: (PUT, ACCUMULATE, WRITE),
    ACCUMULATE: (PUT, GET, READ, WRITE),
    READ: (PUT, ACCUMULATE),
    WRITE: (PUT, GET, ACCUMULATE),
}

MAX_PIECES = 4096
"""An access with holes is not checked if it has more than this number of contiguous pieces."""

MAX_COMPARED = 256
"""A new access is compared with at most this number of accesses of each table, so that the cost of a check is bounded."""

MAX_RANGES = 4
"""Number of byte ranges that a report lists; of further ranges it gives only the number."""


class AccessPeriod:
    """Accesses that end together: those of an epoch since it began or was last flushed, or those of one local buffer."""

    __slots__ = ("by_lock", "noted", "outlast")

    def __init__(self, outlast: Callable[[], Callable[[], bool]] | None = None) -> None:
        self.by_lock = False  # an epoch of a lock: stores by the target's Python code are checked, too
        self.noted: list[tuple[TargetAccesses, dict[Any, Any], Any]] = []  # tables with its accesses, and their keys
        self.outlast = outlast
        # `outlast` is called at the end of the period. It returns a function that returns True as long as no other rank can
        # know that the accesses have ended.

    def close(self) -> None:
        """End the accesses; with `outlast`, keep them in `TargetAccesses.past` until another rank can know of their end."""
        unknown_to_others = self.outlast() if self.outlast is not None and self.noted else None
        for target, table, key in self.noted:
            access = table.pop(key, None)
            if access is not None and unknown_to_others is not None:
                target.keep(access, unknown_to_others)
        self.noted.clear()


SourceLine = tuple[CodeType, int]
"""A location in the program: code and instruction offset. The line is computed only for a report."""

_programs: dict[int, object] = {}
"""id(code) -> the `tie` of code outside fakempi that was found before."""


def source_line(frame: FrameType) -> SourceLine:
    """Return the location outside fakempi that called fakempi, given a frame of fakempi."""
    code = frame.f_code
    while id(code) not in _programs:
        if not is_ours(frame) or frame.f_back is None:
            _programs[id(code)] = tie(_programs, code)
            break
        frame = frame.f_back
        code = frame.f_code
    return code, frame.f_lasti


def place_text(place: SourceLine | str | None) -> str:
    """Return the file and line of a location: `ring.py:14`."""
    if place is None or isinstance(place, str):
        return place or "?"
    code, at = place
    line = next((line for start, end, line in code.co_lines() if start <= at < end), code.co_firstlineno)
    return place_at(code.co_filename, line or 0)


class MemoryAccess(NamedTuple):
    """One access: its bytes, kind, process and location in the program."""

    low: int  # the first byte, from the start of the window
    high: int  # the byte after the last one
    kind: int
    number: int  # of the process
    place: SourceLine | str
    period: Any  # AccessPeriod or None
    local_call: str = ""  # for READ and WRITE: the call that uses the buffer

    @property
    def call(self) -> str:
        """The name of the call."""
        return self.local_call or CALLS[self.kind]

    def conflicts_with(self, other: MemoryAccess) -> bool:
        """Whether the two accesses conflict."""
        if other.low >= self.high or self.low >= other.high or other.kind not in _CONFLICTS[self.kind]:
            return False
        return max(self.kind, other.kind) < READ or not self._may_be_same_call(other)

    def _may_be_same_call(self, other: MemoryAccess) -> bool:
        """Whether both accesses may belong to one call: a rank whose origin buffer and target are in its own window."""
        return self.number == other.number and place_text(self.place) == place_text(other.place)


Conflicts = list[tuple[MemoryAccess, MemoryAccess]]
"""Pairs of conflicting accesses, the earlier one first."""

Past = list[tuple[MemoryAccess, Callable[[], bool]]]
"""Accesses that have ended, each with a function that returns True as long as no other rank can know of the end."""


class TargetAccesses:
    """The accesses to one target's memory.

    Accesses of an epoch of Fence are compared with each other when the epoch ends, other accesses when they begin.
    """

    __slots__ = ("by_fence", "by_lock", "local", "part", "past")

    def __init__(self, part: Any) -> None:
        self.part = part
        self.by_fence: tuple[list[Any], list[Any]] = ([], [])  # index: number of the Fence modulo 2
        self.by_lock: dict[Hashable, MemoryAccess] = {}
        self.local: dict[Hashable, MemoryAccess] = {}  # accesses by MPI calls of the target that are in progress
        self.past: Past = []

    def note(self, extent: Any, kind: int, number: int, place: SourceLine, epoch: Any) -> None:
        """Record the start of an access; `epoch` is 0 or 1 in an epoch of Fence, otherwise the epoch."""
        if self.part.stores is not None:
            self.part.stores.note((extent, kind, number, place), epoch)
        found: Conflicts = []
        if epoch.__class__ is not int:
            for low, high in pieces_of(extent):
                self._note_by_lock(MemoryAccess(low, high, kind, number, place, epoch.period), found)
        else:
            for low, high in ((extent[0], extent[1]),) if extent[2] is None else pieces_of(extent):
                self.by_fence[epoch].append((low, high, kind, number, place, None, ""))
                if self.local or self.past:
                    self._compare(MemoryAccess(low, high, kind, number, place, None), found, self.local, self.past)
        if found:
            self._report(found)

    def note_local(self, access: MemoryAccess, epoch: int | None) -> None:
        """Record that an MPI call of the target begins to use memory of the window; `epoch` is 0 or 1 after a Fence."""
        if epoch is not None:
            self.by_fence[epoch].append(access)
            return
        part = self.part
        found: Conflicts = []
        if part.fence_place is not None:
            self._compare(access, found, dict(enumerate(map(MemoryAccess._make, self.by_fence[part.fence_count & 1]))))
        self._compare(access, found, self.by_lock, self.past)
        self._enter(self.local, access)
        if found:
            self._report(found)

    def close(self, parity: int) -> None:
        """Compare the accesses of an epoch of Fence at its end."""
        noted = self.by_fence[parity]
        if len(noted) > 1:
            found: Conflicts = []
            furthest: list[MemoryAccess | None] = [None] * len(_CONFLICTS)  # by kind: the access with the highest end
            for access in sorted(map(MemoryAccess._make, noted), key=lambda entry: entry[:2]):
                if access.low == access.high:
                    continue
                for kind in _CONFLICTS[access.kind]:
                    other = furthest[kind]
                    if other is not None and other.high > access.low and access.conflicts_with(other):
                        found.append((other, access))
                previous = furthest[access.kind]
                if previous is None or previous.high < access.high:
                    furthest[access.kind] = access
            if found:
                self._report(found)
        noted.clear()

    def keep(self, access: MemoryAccess, unknown: Callable[[], bool]) -> None:
        """Record the end of an access, which no other rank can know as long as `unknown()` returns True."""
        if access.period.by_lock and (stores := self._stores_under_locks()) is not None:
            stores.check(access)
        self.past.append((access, unknown))
        del self.past[:-MAX_COMPARED]

    def written_by_calls(self, low: int, high: int) -> bool:
        """Whether MPI calls of the target write to some of these bytes; then a change may be theirs, not a store."""
        fenced = map(MemoryAccess._make, (entry for noted in self.by_fence for entry in noted if entry[2] == WRITE))
        known = (*fenced, *self.local.values(), *(access for access, _ in self.past))
        return any(entry.kind == WRITE and entry.low < high and low < entry.high for entry in known)

    def _stores_under_locks(self) -> Any:
        """Return the object that checks stores by the target's Python code in epochs of locks, or None."""
        return None if self.part.stores is None else self.part.stores.under_locks

    def _note_by_lock(self, access: MemoryAccess, found: Conflicts) -> None:
        if access.period.by_lock and (stores := self._stores_under_locks()) is not None:
            stores.note(access)
        self._compare(access, found, self.by_lock, self.past)
        if self.local:
            self._compare(access, found, self.local)
        self._enter(self.by_lock, access)

    def _compare(
        self, access: MemoryAccess, found: Conflicts, known: dict[Hashable, MemoryAccess], past: Past | None = None
    ) -> None:
        """Add to `found` the first conflict of an access with one in progress, or with an ended one.

    An ended access counts only if no other rank can know of its end. A rank can learn of it by probing for a message of that
    process, so accesses of processes with unmatched messages do not count.
        """
        for other in islice(known.values(), MAX_COMPARED):
            if access.conflicts_with(other):
                found.append((other, access))
                return
        if past:
            past[:] = [entry for entry in past if entry[1]()]
            for other, _ in past:
                conflict = other.number != access.number and access.conflicts_with(other)
                if conflict and not self.has_unmatched_sends(other.number):
                    found.append((other, access))
                    return

    def _enter(self, table: dict[Hashable, MemoryAccess], access: MemoryAccess) -> None:
        """Add an access to a table, from which the end of its period removes it."""
        key = (*access[:4], id(access.period))
        if key not in table:
            table[key] = access
            access.period.noted.append((self, table, key))

    def has_unmatched_sends(self, number: int) -> bool:
        """Whether messages of a process wait unmatched in a mailbox, where another rank can find them by a probe."""
        sides = self.part.process.universe.state(Contexts).sides
        boxes = (box for side in sides for box in side.boxes if box is not None and not box.is_empty())
        return any(envelope.out.number == number for box in boxes for envelope in box.envelopes())

    def _report(self, found: Conflicts) -> None:
        """Report each pair of calls once, with all bytes that both access."""
        pairs: dict[Any, list[tuple[MemoryAccess, MemoryAccess]]] = {}
        for first, second in found:
            key = (_call_of(first), _call_of(second))
            pairs.setdefault(key if key[::-1] not in pairs else key[::-1], []).append((first, second))
        universe, owner = self.part.process.universe, self.part.process.name
        for conflicts in pairs.values():
            first, second = conflicts[0]
            where = ranges_text([(max(one.low, two.low), min(one.high, two.high)) for one, two in conflicts])
            first_text = ", whose buffer lies in that window" if first.kind >= READ else ""
            second_text = "its buffer lies in a window, and it " if second.kind >= READ else ""
            sentence = (
                f"{second_text}conflicts with {first.call} of {{others}} at {place_text(first.place)}{first_text}: "
                f"both access {where} of the window of {owner} in one epoch, and nothing orders them."
            )
            call, place = second.call, place_text(second.place)
            universe.report("window-race", second.number, sentence, (first.number,), call=call, place=place, wrong_data=True)


def _call_of(access: MemoryAccess) -> Hashable:
    """Return the process, the call and the line of an access: all pieces of one access have the same."""
    return access.number, access.call, place_text(access.place)


def ranges_text(ranges: list[tuple[int, int]]) -> str:
    """Return `bytes 0 to 8, 16 to 24 and 3 other ranges`; ranges that touch are merged."""
    merged: list[list[int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], high)
        else:
            merged.append([low, high])
    texts = [f"{low} to {high}" for low, high in merged[:MAX_RANGES]]
    rest = len(merged) - len(texts)
    if rest:
        texts.append(f"{rest} other range{'s' * (rest > 1)}")
    return f"bytes {', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else f"bytes {texts[0]}"


def pieces_of(extent: Any) -> list[tuple[int, int]]:
    """Return the contiguous pieces of an access as (low, high); an empty list if there are more than `MAX_PIECES`."""
    low, high, span = extent
    if low >= high:
        return []
    if span is None:
        return [(low, high)]
    starts, lengths = all_runs(span.datatype._definition.layout.pieces)
    if len(starts) * span.count > MAX_PIECES:
        return []
    step = span.datatype._extent
    pairs = list(zip(starts.tolist(), lengths.tolist(), strict=True))
    origins = [span.offset + step * number for number in range(span.count)]
    return [(origin + start, origin + start + length) for origin in origins for start, length in pairs]
