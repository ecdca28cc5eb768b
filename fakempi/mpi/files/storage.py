"""A file of the machine: runs of bytes are read and written where they are; operating system errors become MPI's."""

from __future__ import annotations

import errno
import os
from typing import Any

import numpy as np

from fakempi.error_classes import (
    ERR_ACCESS,
    ERR_BAD_FILE,
    ERR_FILE_EXISTS,
    ERR_IO,
    ERR_NO_SPACE,
    ERR_NO_SUCH_FILE,
    ERR_QUOTA,
    ERR_READ_ONLY,
)
from fakempi.errors import MPIError
from fakempi.mpi.base.constants import MODE_CREATE, MODE_EXCL, MODE_RDONLY, MODE_WRONLY
from fakempi.mpi.files.views import Runs

_CLASSES = {
    errno.ENOENT: ERR_NO_SUCH_FILE, errno.EEXIST: ERR_FILE_EXISTS, errno.EACCES: ERR_ACCESS, errno.EPERM: ERR_ACCESS,
    errno.EROFS: ERR_READ_ONLY, errno.ENOSPC: ERR_NO_SPACE, errno.EISDIR: ERR_BAD_FILE, errno.ENAMETOOLONG: ERR_BAD_FILE,
    errno.ENOTDIR: ERR_NO_SUCH_FILE, getattr(errno, "EDQUOT", errno.ENOSPC): ERR_QUOTA,
}  # fmt: skip


class StorageError(MPIError):
    """What the operating system says. Whoever accesses the file for a program adds where that is."""


def failed(error: OSError, path: str) -> StorageError:
    """That, as an error of MPI's."""
    code = _CLASSES.get(error.errno or 0, ERR_IO)
    return StorageError(code, f"{path}: {(os.strerror(error.errno) if error.errno else str(error)).lower()}.")


def delete(path: str) -> None:
    """Remove a file."""
    try:
        os.unlink(path)
    except OSError as error:
        raise failed(error, path) from None


class Storage:
    """An open file."""

    def __init__(self, path: str, amode: int) -> None:
        self.path = path
        flags = os.O_RDONLY if amode & MODE_RDONLY else os.O_WRONLY if amode & MODE_WRONLY else os.O_RDWR
        flags |= (os.O_CREAT if amode & MODE_CREATE else 0) | (os.O_EXCL if amode & MODE_EXCL else 0)
        try:
            self.file = os.open(path, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise failed(error, path) from None

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return os.fstat(self.file).st_size

    def resize(self, nbytes: int) -> None:
        """Cut it off, or let it grow by zeros."""
        try:
            os.ftruncate(self.file, nbytes)
        except OSError as error:
            raise failed(error, self.path) from None

    def read(self, runs: Runs) -> Any:
        """The bytes of the runs up to the first that is not there, as an array."""
        parts: list[bytes] = []
        try:
            for start, length in runs:
                while length:
                    found = os.pread(self.file, length, start)
                    if not found:
                        return np.frombuffer(b"".join(parts), np.uint8)
                    parts.append(found)
                    start, length = start + len(found), length - len(found)
        except OSError as error:
            raise failed(error, self.path) from None
        return np.frombuffer(b"".join(parts), np.uint8)

    def write(self, runs: Runs, data: Any) -> None:
        """Put the bytes into the runs, in order."""
        left = memoryview(data)
        try:
            for start, length in runs:
                piece, left = left[:length], left[length:]
                while piece:
                    done = os.pwrite(self.file, piece, start)
                    start, piece = start + done, piece[done:]
        except OSError as error:
            raise failed(error, self.path) from None

    def close(self) -> None:
        """Let go of it."""
        os.close(self.file)
