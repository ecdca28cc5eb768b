"""Detection of accesses of several ranks to the same bytes of a file that no synchronization orders.

If one of the accesses writes, MPI defines the result only in atomic mode, or if each rank calls Sync between them (MPI 4.1,
section 14.6.1). An access is kept until its file is synchronized or closed, and compared with accesses of other ranks until
then. Writing the bytes that the file already has is not reported.

Intervals of bytes are kept in the order of their starts, so an access is compared with few others.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import Any, NamedTuple, Protocol

from fakempi.mpi.base.call_site import call_and_place
from fakempi.mpi.base.process import Process, Universe
from fakempi.mpi.interfaces.arrays import Array

MAX_INTERVALS = 20_000
"""Upper limit of intervals kept for a file; further ones are compared with these, but not kept."""


class Interval(NamedTuple):
    """Bytes that a rank has accessed, with the call and its location."""

    start: int
    end: int
    number: int  # of the process
    serial: int  # of the open file: sortable, unlike the objects
    atomic: bool
    call: str
    place: str


class Intervals:
    """All reads or all writes of a file since it was synchronized."""

    def __init__(self) -> None:
        self.items: list[Interval] = []
        self.longest = 0

    def add(self, new: Interval) -> None:
        """Keep an interval; join it with the preceding one if that is adjacent and of the same call."""
        at = bisect_left(self.items, (new.start,))
        if at:
            before = self.items[at - 1]
            if before.end == new.start and before[2:] == new[2:]:
                new = before._replace(end=new.end)
                self.items[at - 1] = new
                self.longest = max(self.longest, new.end - new.start)
                return
        if len(self.items) < MAX_INTERVALS:
            insort(self.items, new)
            self.longest = max(self.longest, new.end - new.start)

    def conflict(self, new: Interval) -> Interval | None:
        """Return an access of another rank to some of these bytes, unless both are atomic."""
        for at in range(bisect_left(self.items, (new.start - self.longest,)), len(self.items)):
            item = self.items[at]
            if item.start >= new.end:
                return None
            if item.end > new.start and item.number != new.number and not (item.atomic and new.atomic):
                return item
        return None

    def forget(self, serial: int) -> None:
        """Remove the accesses through one open file, which precede all later accesses."""
        self.items = [item for item in self.items if item.serial != serial]
        if not self.items:
            self.longest = 0


class CheckedFile(Protocol):
    """A file that ranks have opened; implemented by `fakempi.mpi.files.shared_file`."""

    path: str
    serial: int
    atomic: bool
    universe: Universe


class FileRaces:
    """The unsynchronized accesses to one file."""

    def __init__(self) -> None:
        self.reads, self.writes = Intervals(), Intervals()

    def synchronized(self, serial: int) -> None:
        """Forget accesses of an open file that all its ranks have synchronized or closed."""
        self.reads.forget(serial)
        self.writes.forget(serial)

    def note(self, opened: CheckedFile, process: Process, runs: list[tuple[int, int]], data: Array | None) -> None:
        """Check and record a rank's read of runs of bytes, or its write of `data`."""
        known = process.number, opened.serial, opened.atomic, *call_and_place()
        other = None
        for start, length in runs:
            new = Interval(start, start + length, *known)
            if length and other is None:
                other, verb = self.writes.conflict(new), "written"
                if other is not None and data is not None and _already_has(opened.path, runs, data):
                    other = None
                if other is None and data is not None:
                    other, verb = self.reads.conflict(new), "read"
                if other is not None:
                    self._report(opened, new, other, verb)
            if length:
                (self.reads if data is None else self.writes).add(new)

    @staticmethod
    def _report(opened: CheckedFile, new: Interval, other: Interval, verb: str) -> None:
        does = "reads" if new.call.startswith(("Read", "Iread")) else "writes"
        there = f"by {other.call} at {other.place}, with no Sync in between"
        sentence = f"{does} bytes of a file that {{others}} has {verb} {there}"
        opened.universe.report("file-race", new.number, sentence, (other.number,), call=new.call, place=new.place)


def _already_has(path: str, runs: list[tuple[int, int]], data: Any) -> bool:
    """Whether the file already has these data; opens it again, since it may be open for writing only."""
    new, at = memoryview(data), 0
    try:
        with open(path, "rb") as file:
            for start, length in runs:
                file.seek(start)
                if file.read(length) != new[at : at + length]:
                    return False
                at += length
    except OSError:
        return False
    return True
