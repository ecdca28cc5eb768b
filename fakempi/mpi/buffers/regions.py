"""Regions of memory that operations in progress use: their previous contents, their addresses, and which overlap."""

from __future__ import annotations

from bisect import bisect_left, insort
from itertools import count
from typing import Protocol

import numpy as np
from numpy import frombuffer, ndarray

from fakempi.mpi.buffers.payload import as_bytes, copy_into
from fakempi.mpi.buffers.raw import U1, Bytes, address_of
from fakempi.mpi.buffers.span import Span
from fakempi.mpi.interfaces.arrays import Array

_serial = count(1)


class RegionUse(Protocol):
    """The use of memory by an operation: its call and place, and whether an error of it has been reported."""

    call: str
    place: str
    reported: bool


class MemoryRegion:
    """The memory of a payload that an operation reads or writes, and its contents when the operation was started.

    The contents are copied: a copy takes less time than a checksum, and it finds every change.
    """

    __slots__ = ("changed", "expected", "high", "locked", "low", "payload", "root", "saved", "serial", "use", "writes")

    low: int  # its first address, and the one after its last; set by `locate`, which takes half of the total time
    high: int

    def __init__(self, payload: Array | Span, writes: bool, use: RegionUse, keep: bool = True) -> None:
        self.payload, self.writes, self.use = payload, writes, use
        self.root = id(root_of(payload.memory if type(payload) is Span else payload))
        self.changed = False  # whether something other than the operation has written to it
        self.serial = 0  # 0 until it is located
        self.locked: list[Array] = []  # arrays of the program that are read-only because of it
        self.saved: bytes | None = None  # its contents before `poison`
        self.expected = contents(payload) if keep else b""

    def locate(self) -> None:
        """Determine its addresses, unless they are known."""
        if self.serial:
            return
        payload = self.payload
        if type(payload) is Span:
            first, last = payload.datatype._span(payload.count)
            start = address_of(payload.memory) + payload.offset  # type: ignore[arg-type]  # spans of phantoms travel as phantoms
            self.low, self.high = start + first, start + last
        else:
            self.low = address_of(payload)
            self.high = self.low + payload.nbytes
        self.serial = next(_serial)

    def check(self) -> None:
        """Record whether its contents have changed."""
        if not self.changed and contents(self.payload) != self.expected:
            self.changed = True

    def accept_contents(self) -> None:
        """Regard its present contents as correct."""
        self.expected = contents(self.payload)

    def poison(self) -> None:
        """Fill it with a conspicuous value, NaN for floats, since the program must not read it."""
        payload = self.payload
        byte = 0xFF if type(payload) is ndarray and payload.dtype.kind in "fc" else 0xA5
        self.saved, self.expected = self.expected, bytes([byte]) * len(self.expected)
        put(self.expected, payload)

    def restore(self) -> None:
        """Undo `poison`, before a message arrives that may be shorter, or when none arrives."""
        if self.saved is not None:
            put(self.saved, self.payload)
            self.expected, self.saved = self.saved, None

    def overlaps(self, other: MemoryRegion) -> bool:
        """Whether both have a byte in common; with holes, each byte is compared."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low >= high or (type(self.payload) is not Span and type(other.payload) is not Span):
            return low < high
        return bool(np.any(self._byte_mask(low, high) & other._byte_mask(low, high)))

    def pieces(self, low: int, high: int) -> list[tuple[int, int]]:
        """Return its address ranges between two addresses, without holes."""
        if type(self.payload) is not Span:
            return [(low, high)]
        edges = np.flatnonzero(np.diff(self._byte_mask(low, high), prepend=0, append=0)).tolist()
        return [(low + first, low + last) for first, last in zip(edges[::2], edges[1::2], strict=True)]

    def _byte_mask(self, low: int, high: int) -> Bytes:
        """Return 1 for each byte between two addresses that is part of it, otherwise 0."""
        payload = self.payload
        if type(payload) is not Span:
            return np.ones(high - low, U1)
        mask = np.zeros(self.high - self.low, U1)
        first = payload.datatype._span(payload.count)[0]
        Span(mask, -first, payload.count, payload.datatype).unpack(np.ones(payload.nbytes, U1))
        return mask[low - self.low : high - self.low]


def contents(payload: Array | Span) -> bytes:
    """Return the bytes of a payload that has memory."""
    return as_bytes(payload, payload.nbytes)


def put(data: bytes, payload: Array | Span) -> None:
    """Write bytes of equal size to a payload."""
    copy_into(frombuffer(data, U1), payload, len(data))


def root_of(memory: object) -> object:
    """Return the object that owns the memory of an array."""
    base = getattr(memory, "base", None)
    while base is not None:
        memory = base
        base = memory.obj if type(memory) is memoryview else getattr(memory, "base", None)
    return memory


class RegionIndex:
    """Regions of one object's memory, to find those that overlap with another one."""

    __slots__ = ("read", "written")

    def __init__(self, first: MemoryRegion) -> None:
        self.read, self.written = SortedRegions(), SortedRegions()
        self.add(first)

    def add(self, region: MemoryRegion) -> MemoryRegion | None:
        """Add a region; return another one that it overlaps with, if one of the two writes."""
        region.locate()
        (self.written if region.writes else self.read).add(region)
        return self.written.overlapping(region) or (self.read.overlapping(region) if region.writes else None)

    def conflict_of(self, region: MemoryRegion) -> MemoryRegion | None:
        """Return a region that overlaps with another one that is not added, if one of the two writes."""
        region.locate()
        return self.written.overlapping(region) or (self.read.overlapping(region) if region.writes else None)

    def remove(self, region: MemoryRegion) -> bool:
        """Remove a region; return whether none is left."""
        (self.written if region.writes else self.read).remove(region)
        return not self.read.entries and not self.written.entries


class SortedRegions:
    """Regions in the order of their addresses."""

    __slots__ = ("entries", "longest")

    def __init__(self) -> None:
        self.entries: list[tuple[int, int, MemoryRegion]] = []
        self.longest = 0  # the size of the longest region since it was empty

    def add(self, region: MemoryRegion) -> None:
        """Add a region."""
        insort(self.entries, (region.low, region.serial, region))
        self.longest = max(self.longest, region.high - region.low)

    def remove(self, region: MemoryRegion) -> None:
        """Remove a region."""
        del self.entries[bisect_left(self.entries, (region.low, region.serial))]
        if not self.entries:
            self.longest = 0

    def overlapping(self, region: MemoryRegion) -> MemoryRegion | None:
        """Return a region of another operation that has a byte in common with a region."""
        for i in range(bisect_left(self.entries, (region.low - self.longest, 0)), len(self.entries)):
            low, _, other = self.entries[i]
            if low >= region.high:
                break
            if other.use is not region.use and other.overlaps(region):
                return other
        return None
