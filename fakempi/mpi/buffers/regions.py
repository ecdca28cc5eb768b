"""Stretches of memory that operations under way use: what they held, where they are, which of them overlap."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
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

    __slots__ = ("changed", "high", "kept", "low", "payload", "pin", "saved", "serial", "writes")

    def __init__(self, payload: Payload, writes: bool, pin: Any) -> None:
        self.payload, self.writes, self.pin = payload, writes, pin
        if type(payload) is Span:
            first, last = payload.datatype._span(payload.count)
            start = address_of(payload.memory) + payload.offset  # type: ignore[arg-type]
            self.low, self.high = start + first, start + last
        else:
            self.low = address_of(payload)
            self.high = self.low + payload.nbytes
        self.serial = next(_serial)
        self.changed = False  # whether somebody else has written to it
        self.saved: bytes | None = None  # what it held before it was poisoned
        self.kept = contents(payload)

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


class Regions:
    """Many, in the order of their addresses, to find those that overlap with one more."""

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

    def overlapping(self, region: Region) -> Iterator[Region]:
        """Those that have a byte in common with it."""
        for i in range(bisect_left(self.entries, (region.low - self.longest, 0)), len(self.entries)):
            low, _, other = self.entries[i]
            if low >= region.high:
                break
            if other.overlaps(region):
                yield other
