"""Accesses to one target's memory that clash, because nothing orders them: both are told, with their places.

Of two accesses to the same bytes at the same time one may not be a Put unless both are the same operation, and a Get not
beside an Accumulate. Accumulates, and their kin that also fetch, are atomic and may meet.
"""

from __future__ import annotations

import os
from itertools import islice
from types import CodeType, FrameType
from typing import Any, NamedTuple

from fakempi.mpi.base.complain import is_ours
from fakempi.mpi.datatypes.typemap import written_out

PUT, GET, ACCUMULATE = range(3)
CALLS = ("Put", "Get", "Accumulate")
_CLASHES = {PUT: (PUT, GET, ACCUMULATE), GET: (PUT, ACCUMULATE), ACCUMULATE: (PUT, GET)}

RUNS = 4096
"""Most pieces of memory with holes that are looked at; what has more is not checked."""

MOST = 256
"""Of the accesses that are under way under locks, to how many a new one is compared: it is done for each, as they come."""


class Stretch:
    """Accesses that nothing has ended yet: those of an epoch, or since its last flush."""

    __slots__ = ("noted",)

    def __init__(self) -> None:
        self.noted: list[tuple[dict[Any, Any], Any]] = []  # where its accesses are noted

    def close(self) -> None:
        """They have ended: whatever comes later does not meet them."""
        for known, key in self.noted:
            known.pop(key, None)
        self.noted.clear()


Place = tuple[CodeType, int]
"""Where the program is: code, and how far into it. Which line that is, few ask."""

_programs: dict[int, CodeType] = {}
"""Code that is not ours, by its address."""


def place_of(frame: FrameType) -> Place:
    """Where the program is that led to a frame."""
    code = frame.f_code
    while id(code) not in _programs:
        if not is_ours(frame) or frame.f_back is None:
            _programs[id(code)] = code
            break
        frame = frame.f_back
        code = frame.f_code
    return code, frame.f_lasti


def in_words(place: Place | None) -> str:
    """The file and line: `ring.py:14`."""
    if place is None:
        return "?"
    code, at = place
    line = next((line for start, end, line in code.co_lines() if start <= at < end), code.co_firstlineno)
    return f"{os.path.basename(code.co_filename)}:{line}"


class Access(NamedTuple):
    """One access: which bytes, of what kind, whose, and where in the program."""

    low: int
    high: int
    kind: int
    number: int
    place: Place
    stretch: Any


class Accesses:
    """What is going on in one target's memory. Those of a fence's epoch are looked at when it ends, others as they come."""

    __slots__ = ("by_lock", "fenced", "part")

    def __init__(self, part: Any) -> None:
        self.part = part
        self.fenced: tuple[list[Any], list[Any]] = ([], [])  # by whether the fence is an odd one
        self.by_lock: dict[Any, Access] = {}

    def note(self, extent: Any, kind: int, number: int, place: Place, epoch: Any) -> None:
        """A rank's access begins."""
        if self.part.stores is not None:
            self.part.stores.note((extent, kind, number, place), epoch)
        if epoch.__class__ is int and extent[2] is None:
            self.fenced[epoch].append((extent[0], extent[1], kind, number, place, None))
            return
        for low, high in runs(extent):
            if epoch.__class__ is int:
                self.fenced[epoch].append((low, high, kind, number, place, None))
            else:
                self._note_by_lock(Access(low, high, kind, number, place, epoch.stretch))

    def close(self, parity: int) -> None:
        """A fence's epoch ends: look whether its accesses clash."""
        noted = self.fenced[parity]
        if len(noted) > 1:
            furthest: list[Access | None] = [None, None, None]  # of each kind, the one that reaches furthest
            for access in sorted(map(Access._make, noted), key=lambda one: one[:2]):
                if access.low == access.high:
                    continue
                for kind in _CLASHES[access.kind]:
                    other = furthest[kind]
                    if other is not None and other.high > access.low:
                        self._tell(other, access)
                reach = furthest[access.kind]
                if reach is None or reach.high < access.high:
                    furthest[access.kind] = access
        noted.clear()

    def _note_by_lock(self, access: Access) -> None:
        known = self.by_lock
        for other in islice(known.values(), MOST):
            overlap = other.low < access.high and access.low < other.high
            if overlap and other.kind in _CLASHES[access.kind]:
                self._tell(other, access)
                break
        key = access[:4]
        if key not in known:
            known[key] = access
            access.stretch.noted.append((known, key))

    def _tell(self, first: Access, second: Access) -> None:
        universe, owner = self.part.process.universe, self.part.process.name
        low, high = max(first.low, second.low), min(first.high, second.high)
        words = (
            f"it clashes with {CALLS[first.kind]} of {{others}} at {in_words(first.place)}: both reach bytes {low} to "
            f"{high} of the window of {owner} in one epoch, and nothing orders them."
        )
        call, place = CALLS[second.kind], in_words(second.place)
        universe.found("window-race", second.number, words, (first.number,), call=call, place=place, at_once=True)


def runs(extent: Any) -> list[tuple[int, int]]:
    """The stretches of memory without holes that an access reaches."""
    low, high, span = extent
    if low >= high:
        return []
    if span is None:
        return [(low, high)]
    starts, lengths = written_out(span.datatype._definition.layout.pieces)
    if len(starts) * span.count > RUNS:
        return []
    step = span.datatype._extent
    pairs = list(zip(starts.tolist(), lengths.tolist(), strict=True))
    at = [span.offset + step * number for number in range(span.count)]
    return [(origin + start, origin + start + length) for origin in at for start, length in pairs]
