"""A file of the operating system: reads and writes of runs of bytes, with MPI's error classes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from fakempi.errors import MPIError
from fakempi.errors.classes import (
    ERR_ACCESS,
    ERR_BAD_FILE,
    ERR_FILE_EXISTS,
    ERR_IO,
    ERR_NO_SPACE,
    ERR_NO_SUCH_FILE,
    ERR_QUOTA,
    ERR_READ_ONLY,
)
from fakempi.mpi.base.constants import MODE_CREATE, MODE_EXCL, MODE_RDONLY, MODE_WRONLY
from fakempi.mpi.files.views import Runs
from fakempi.mpi.interfaces.arrays import Array

_CLASSES = {
    errno.ENOENT: ERR_NO_SUCH_FILE, errno.EEXIST: ERR_FILE_EXISTS, errno.EACCES: ERR_ACCESS, errno.EPERM: ERR_ACCESS,
    errno.EROFS: ERR_READ_ONLY, errno.ENOSPC: ERR_NO_SPACE, errno.EISDIR: ERR_BAD_FILE, errno.ENAMETOOLONG: ERR_BAD_FILE,
    errno.ENOTDIR: ERR_NO_SUCH_FILE, getattr(errno, "EDQUOT", errno.ENOSPC): ERR_QUOTA,
}  # fmt: skip


class StorageError(MPIError):
    """An error of the operating system. The caller adds the name of the MPI call."""


def as_mpi_error(error: OSError, path: str) -> StorageError:
    """Return an error of the operating system as an MPI error."""
    code = _CLASSES.get(error.errno or 0, ERR_IO)
    return StorageError(code, f"{path}: {(os.strerror(error.errno) if error.errno else str(error)).lower()}.")


def delete(path: str) -> None:
    """Delete a file."""
    try:
        os.unlink(path)
    except OSError as error:
        raise as_mpi_error(error, path) from None


def seek_and_read(fd: int, length: int, offset: int) -> bytes:
    """`os.pread` for Windows. One rank runs at a time, so no other call moves the position between seek and read."""
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, length)


def seek_and_write(fd: int, data: memoryview, offset: int) -> int:
    """`os.pwrite` for Windows."""
    os.lseek(fd, offset, os.SEEK_SET)
    return os.write(fd, data)


read_at: Callable[[int, int, int], bytes] = getattr(os, "pread", seek_and_read)
write_at: Callable[[int, memoryview, int], int] = getattr(os, "pwrite", seek_and_write)


class Storage:
    """An open file."""

    def __init__(self, path: str, amode: int) -> None:
        self.path, self.file = path, -1
        flags = os.O_RDONLY if amode & MODE_RDONLY else os.O_WRONLY if amode & MODE_WRONLY else os.O_RDWR
        flags |= (os.O_CREAT if amode & MODE_CREATE else 0) | (os.O_EXCL if amode & MODE_EXCL else 0)
        try:
            self.file = os.open(path, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise as_mpi_error(error, path) from None

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return os.fstat(self.file).st_size

    def resize(self, nbytes: int) -> None:
        """Truncate the file, or extend it by zeros."""
        try:
            os.ftruncate(self.file, nbytes)
        except OSError as error:
            raise as_mpi_error(error, self.path) from None

    def read(self, runs: Runs) -> Array:
        """Return the bytes of the runs up to the end of the file."""
        parts: list[bytes] = []
        try:
            for start, length in runs:
                while length:
                    data = read_at(self.file, length, start)
                    if not data:
                        return np.frombuffer(b"".join(parts), np.uint8)
                    parts.append(data)
                    start, length = start + len(data), length - len(data)
        except OSError as error:
            raise as_mpi_error(error, self.path) from None
        return np.frombuffer(b"".join(parts), np.uint8)

    def write(self, runs: Runs, data: Any) -> None:
        """Write the bytes to the runs, in order."""
        unwritten = memoryview(data)
        try:
            for start, length in runs:
                piece, unwritten = unwritten[:length], unwritten[length:]
                while piece:
                    done = write_at(self.file, piece, start)
                    start, piece = start + done, piece[done:]
        except OSError as error:
            raise as_mpi_error(error, self.path) from None

    def close(self) -> None:
        """Close the descriptor once. Closing it again could close another file, since descriptors are reused."""
        file, self.file = self.file, -1
        if file >= 0:
            os.close(file)

    __del__ = close  # for a file that a program leaves open outside a run
