"""Read files that other people have made."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MAX_BYTES = 1 << 28
"""Upper limit of the size of a file that is read."""

STREAMS = ("/dev/stdin", "/dev/fd/")
"""The beginnings of the paths of pipes that a shell opens for a command."""


def read_text(path: str | os.PathLike[str], errors: str = "strict") -> str:
    """Return a text in UTF-8, without a byte order mark. Raises ValueError with the reason if there is none.

    Devices and pipes in the file system are not read: they may have no end.
    """
    return decoded(read_bytes(path), errors)


def decoded(data: bytes, errors: str = "strict") -> str:
    """Return a text in UTF-8, without a byte order mark, and with the line ends of Python."""
    try:
        text = data.decode("utf-8-sig", errors)
    except UnicodeDecodeError:
        raise ValueError("not a text file in UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the contents of a file, as `read_text`."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) and (stat.S_ISDIR(status.st_mode) or not str(path).startswith(STREAMS)):
            raise ValueError("a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file")
        if status.st_size > MAX_BYTES:
            raise ValueError(f"larger than {MAX_BYTES >> 20} MiB")
        return Path(path).read_bytes()
    except OSError as error:
        raise ValueError(error.strerror) from None
