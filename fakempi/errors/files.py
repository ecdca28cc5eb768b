"""Read files that other people have made: no pipes or devices, which may have no end; and errors that name the file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from fakempi.errors import MPIError, MPIValueError
from fakempi.errors.classes import ERR_ARG

MAX_BYTES = 1 << 28
"""Upper limit of the size of a file that is read."""

STREAMS = ("/dev/stdin", "/dev/fd/")
"""The beginnings of the paths of pipes that a shell opens for a command."""


def read_bytes(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> bytes:
    """Return the contents of a file; OSError for directories, devices, pipes in the file system, and large files."""
    name = os.path.expanduser(path)
    status = os.stat(name)
    mode = status.st_mode
    if not stat.S_ISREG(mode) and (stat.S_ISDIR(mode) or not str(name).startswith(STREAMS)):
        problem = "Is a directory" if stat.S_ISDIR(mode) else "Not a regular file"
        raise OSError(errno.EINVAL, problem, os.fspath(path))
    with open(name, "rb") as file:
        data = b"" if status.st_size > limit else file.read() if stat.S_ISREG(mode) else file.read(MAX_BYTES + 1)
    if max(status.st_size, len(data)) > limit:
        raise OSError(errno.EFBIG, f"Larger than {limit >> 20} MiB", os.fspath(path))
    return data


@contextmanager
def naming(*paths: str) -> Iterator[None]:
    """Begin the text of an error with the paths of the files whose contents cause it, unless the text names one of them."""
    try:
        yield
    except MPIError as error:
        if not paths or any(os.path.basename(path) in str(error) for path in paths):
            raise
        raise MPIValueError(ERR_ARG, f"{', '.join(paths)}: {error}") from error
