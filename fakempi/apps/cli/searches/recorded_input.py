"""Standard input that several runs of a script read, each from its beginning."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO


class RecordedInput:
    """Standard input, which every run of a script reads from its beginning. It is read only when the script does."""

    def __init__(self, source: Any) -> None:
        self.source, self.data = source, bytearray()

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordedInput, (None,)  # in a worker process

    def more(self) -> bytes:
        """Read some bytes that no run has read, and record them."""
        if self.source is None:
            raise OSError("worker processes cannot read standard input: use --jobs 1")
        binary = getattr(self.source, "buffer", None)
        read = self.source.readline().encode() if binary is None else binary.readline()
        self.data += read
        return bytes(read)

    def stream(self) -> TextIO:
        """Return a stream that begins with the first byte."""
        encoding = getattr(self.source, "encoding", None) or "utf-8"
        return io.TextIOWrapper(io.BufferedReader(_InputReader(self)), encoding=encoding)


class _InputReader(io.RawIOBase):
    """A reader of a recorded input, with its own position."""

    def __init__(self, recorded: RecordedInput) -> None:
        super().__init__()
        self.recorded, self.position = recorded, 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, target: Any) -> int:
        """Copy bytes that are recorded, or read more."""
        data = self.recorded.data
        if self.position == len(data):
            self.recorded.more()
        taken = data[self.position : self.position + len(target)]
        target[: len(taken)] = taken
        self.position += len(taken)
        return len(taken)


@contextmanager
def restored_input(stdin: Any) -> Iterator[None]:
    """Restore standard input at the end of the block."""
    try:
        yield
    finally:
        sys.stdin = stdin
