"""Memory that a child shares with the parent: large arrays in arguments are copied there and back."""

from __future__ import annotations

import mmap
import os
from typing import Any

from fakempi.processes.protocol import segment_size

LARGEST = 1 << 30
"""Largest number of bytes for which a segment is used; longer messages travel through the pipe."""

KEPT = 1 << 26
"""Bytes of free segments that keep their memory."""


class Segment:
    """A part of the file: where it is, its size, and its memory."""

    __slots__ = ("map", "offset", "size", "view")

    def __init__(self, fd: int, offset: int, size: int) -> None:
        self.offset, self.size = offset, size
        self.map = mmap.mmap(fd, size, offset=offset)
        self.view = memoryview(self.map)


class Segments:
    """Allocates segments of a file. A free segment is used again for memory of about the same size."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.end = 0
        self.free: dict[int, list[Segment]] = {}
        self.kept = 0

    def allocate(self, nbytes: int) -> Segment | None:
        """Return a segment with at least `nbytes` bytes; None if there cannot be one."""
        if self.fd < 0 or nbytes > LARGEST:
            return None
        size = segment_size(nbytes)
        found = self.free.get(size)
        if found:
            self.kept -= size
            return found.pop()
        try:
            os.ftruncate(self.fd, self.end + size)
            made = Segment(self.fd, self.end, size)
        except OSError:  # no space
            self.fd = -1
            return None
        self.end += size
        return made

    def release(self, segment: Any) -> None:
        """Free a segment that no call uses any more."""
        self.kept += segment.size
        if self.kept > KEPT and hasattr(mmap, "MADV_REMOVE"):
            segment.map.madvise(mmap.MADV_REMOVE)
        self.free.setdefault(segment.size, []).append(segment)
