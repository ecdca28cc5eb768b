"""Memory that the parent and all children share: the memory of windows that MPI allocates."""

from __future__ import annotations

import mmap
import os
import tempfile
import weakref
from contextlib import suppress
from typing import Any

import numpy as np

from fakempi.mpi.base.process import RunState, Universe


class SharedMemory(RunState):
    """Allocates memory of windows in files that exist only as long as a process uses them."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe)
        universe.window_memory = self.zeros
        universe.at_end.append(self.close)
        self.segments: dict[int, tuple[int, int, str, int]] = {}  # number -> address, size, path, file descriptor
        self.count = 0
        self.directory: str | None = None

    def zeros(self, nbytes: int) -> Any:
        """Return new memory, cleared, as an array of bytes."""
        if not nbytes:
            return np.zeros(0, np.uint8)
        if hasattr(os, "memfd_create"):
            fd = os.memfd_create("fakempi")
            path = f"/proc/{os.getpid()}/fd/{fd}"
        else:
            self.directory = self.directory or tempfile.mkdtemp()
            path = os.path.join(self.directory, str(self.count))
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.ftruncate(fd, nbytes)
        mapped = mmap.mmap(fd, nbytes)
        memory = np.frombuffer(mapped, np.uint8)
        self.count += 1
        self.segments[self.count] = memory.ctypes.data, nbytes, path, fd
        weakref.finalize(mapped, self._close, self.count).atexit = False  # its address is free again
        return memory

    def locate(self, memory: Any) -> tuple[int, str, int, int, int] | None:
        """Return the location of memory: number, file and its size, offset, number of bytes; None if it is not shared."""
        address = memory.ctypes.data
        for number, (start, size, path, _) in self.segments.items():
            if start <= address < start + size:
                return number, path, size, address - start, memory.nbytes
        return None

    def _close(self, number: int) -> None:
        _, _, path, fd = self.segments.pop(number, (0, 0, "", -1))
        if fd >= 0:
            os.close(fd)
            if self.directory:
                with suppress(OSError):
                    os.unlink(path)

    def close(self) -> None:
        """Close the files at the end of the run."""
        for number in list(self.segments):
            self._close(number)
        if self.directory:
            with suppress(OSError):
                os.rmdir(self.directory)
