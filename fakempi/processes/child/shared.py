"""Shared memory of a child: the memory of windows that MPI has allocated."""

from __future__ import annotations

import mmap
import os
from typing import Any


class Shared:
    """Maps files of the parent, each once."""

    def __init__(self) -> None:
        self.maps: dict[int, mmap.mmap] = {}

    def find(self, number: int, path: str, size: int, offset: int, nbytes: int) -> Any:
        """Return a part of a file as `MPI.buffer`."""
        from fakempi.mpi.buffers.memory import buffer

        found = self.maps.get(number)
        if found is None:
            fd = os.open(path, os.O_RDWR)
            found = self.maps[number] = mmap.mmap(fd, size)
            os.close(fd)
        return buffer.frombuffer(memoryview(found)[offset : offset + nbytes])
