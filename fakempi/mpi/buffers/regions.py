"""Stretches of memory that operations under way use: what they held, where they are, which of them overlap."""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import count
from typing import Any

import numpy as np
from numpy import frombuffer, ndarray

from fakempi.mpi.buffers.payload import Payload, copy_into
from fakempi.mpi.buffers.raw import U1, Bytes, address_of
from fakempi.mpi.buffers.span import Span

_serial = count()


class Region:
    """The memory of a payload that an operation reads or writes, as it was when the operation was started.

    All of it is kept: a copy takes less time than a checksum, and nothing escapes it.
    """

    __slots__ = ("changed", "high", "kept", "locked", "low", "payload", "pin", "root", "saved", "serial", "writes")

    low: int  # its addresses, once somebody asks: that takes as long as all the rest
    high: int
    serial: int

    def __init__(self, payload: Payload, writes: bool, pin: Any) -> None:
        self.payload, self.writes, self.pin = payload, writes, pin
        self.root = id(root_of(payload.memory if type(payload) is Span else payload))
        self.changed = False  # whether somebody else has written to it
        self.locked: list[Any] = []  # arrays of the program that it has made read-only
        self.saved: bytes | None = None  # what it held before it was poisoned
        self.kept = contents(payload)

    def locate(self) -> None:
        """Find out where it is."""
        payload = self.payload
        if type(payload) is Span:
            first, last = payload.datatype._span(payload.count)
            start = address_of(payload.memory) + payload.offset  # type: ignore[arg-type]
            self.low, self.high = start + first, start + last
        else:
            self.low = address_of(payload)
            self.high = self.low + payload.nbytes
        self.serial = next(_serial)

    def look(self) -> None:
        """Has anybody written to it since?"""
        if not self.changed and contents(self.payload) != self.kept:
            self.changed = True

    def keep(self) -> None:
        """What it holds now is right."""
        self.kept = contents(self.payload)

    def poison(self) -> None:
        """Nobody may read it: have it hold what nobody expects, NaN where there are floats."""
        payload = self.payload
        byte = 0xFF if type(payload) is ndarray and payload.dtype.kind in "fc" else 0xA5
        self.saved, self.kept = self.kept, bytes([byte]) * len(self.kept)
        put(self.kept, payload)

    def cure(self) -> None:
        """Have it hold again what it held, before a message comes that may be shorter, or none."""
        if self.saved is not None:
            put(self.saved, self.payload)
            self.kept, self.saved = self.saved, None

    def overlaps(self, other: Region) -> bool:
        """Whether both have a byte in common; where there are holes, each byte is looked at."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low >= high or (type(self.payload) is not Span and type(other.payload) is not Span):
            return low < high
        return bool(np.any(self._touched(low, high) & other._touched(low, high)))

    def _touched(self, low: int, high: int) -> Bytes:
        """Which bytes are part of it, of those between two addresses."""
        payload = self.payload
        if type(payload) is not Span:
            return np.ones(high - low, U1)
        found = np.zeros(self.high - self.low, U1)
        first = payload.datatype._span(payload.count)[0]
        Span(found, -first, payload.count, payload.datatype).unpack(np.ones(payload.nbytes, U1))
        return found[low - self.low : high - self.low]


def contents(payload: Payload) -> bytes:
    """The bytes of a payload that has memory."""
    found: bytes = (payload.packed() if type(payload) is Span else payload).tobytes()
    return found


def put(data: bytes, payload: Payload) -> None:
    """Have a payload hold these bytes, which are as many."""
    copy_into(frombuffer(data, U1), payload, len(data))


def root_of(memory: Any) -> Any:
    """The object whose memory an array looks at."""
    base = memory.base
    while base is not None:
        memory = base
        base = memory.obj if type(memory) is memoryview else getattr(memory, "base", None)
    return memory


class Neighbours:
    """Regions of one object's memory, to find those that overlap with one more."""

    __slots__ = ("read", "written")

    def __init__(self, first: Region) -> None:
        self.read, self.written = Row(), Row()
        self.add(first)

    def add(self, region: Region) -> Region | None:
        """One more; returns another one that it overlaps with, if one of the two writes."""
        region.locate()
        (self.written if region.writes else self.read).add(region)
        return self.written.overlapping(region) or (self.read.overlapping(region) if region.writes else None)

    def remove(self, region: Region) -> bool:
        """One less; returns whether none is left."""
        (self.written if region.writes else self.read).remove(region)
        return not self.read.entries and not self.written.entries


class Row:
    """Regions in the order of their addresses."""

    __slots__ = ("entries", "longest")

    def __init__(self) -> None:
        self.entries: list[tuple[int, int, Region]] = []
        self.longest = 0  # of those that have been in it since it was empty

    def add(self, region: Region) -> None:
        """One more."""
        insort(self.entries, (region.low, region.serial, region))
        self.longest = max(self.longest, region.high - region.low)

    def remove(self, region: Region) -> None:
        """One less."""
        del self.entries[bisect_left(self.entries, (region.low, region.serial))]
        if not self.entries:
            self.longest = 0

    def overlapping(self, region: Region) -> Region | None:
        """One that has a byte in common with it, if there is one of another operation."""
        for i in range(bisect_left(self.entries, (region.low - self.longest, 0)), len(self.entries)):
            low, _, other = self.entries[i]
            if low >= region.high:
                break
            if other.pin is not region.pin and other.overlaps(region):
                return other
        return None
