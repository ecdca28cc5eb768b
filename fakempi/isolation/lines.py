"""Bytes on their way from a rank to a standard stream: whole lines, so that lines of different ranks are not mixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Sink:
    """Writes bytes to a stream of this Python process; a stream for text only receives them decoded.

    The encoding must represent a line end by the byte 10, as all encodings of locales do.
    """

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.buffer = getattr(stream, "buffer", None)

    def write(self, data: bytes) -> None:
        """Write bytes unchanged."""
        if self.buffer is None:  # a StringIO, or the output of a notebook
            self.stream.write(data.decode(getattr(self.stream, "encoding", None) or "utf-8", "backslashreplace"))
            return
        written = self.buffer.write(data)
        while written is not None and written < len(data):  # without buffering (`python -u`)
            data = data[written:]
            written = self.buffer.write(data)
        if getattr(self.stream, "line_buffering", False):  # a terminal, or standard error
            self.stream.flush()

    def flush(self) -> None:
        """Flush the stream."""
        self.stream.flush()

    def is_terminal(self) -> bool:
        """Return whether the stream is a terminal."""
        return bool(self.stream.isatty())


class Lines:
    """Passes on the lines of a rank once they are complete.

    `label` is the prefix of each line. Bytes after the last newline are kept until their line is complete or the rank ends.
    """

    def __init__(self, write: Callable[[bytes], Any], label: str = "") -> None:
        self.write, self.label = write, label.encode()
        self.partial: list[bytes] = []

    def add(self, data: bytes) -> None:
        """Write complete lines, keep the rest."""
        head, newline, tail = data.rpartition(b"\n")
        if newline:
            if self.partial:
                head = b"".join(self.partial) + head
                self.partial.clear()
            if self.label:
                head = self.label + head.replace(b"\n", b"\n" + self.label)
            self.write(head + newline)
        if tail:
            self.partial.append(tail)

    def show(self) -> None:
        """Write the incomplete line at once: it may be a question to the user."""
        if self.partial:
            data = self.label + b"".join(self.partial)
            self.partial.clear()
            self.write(data)

    def show_progress(self, sink: Sink) -> None:
        """Write the incomplete line if a carriage return and a terminal make it a display that is overwritten later.

        Not with a label, which the next text would overwrite.
        """
        if self.partial and not self.label and any(b"\r" in part for part in self.partial) and sink.is_terminal():
            self.show()

    def finish(self) -> None:
        """Write the incomplete last line of a rank that has ended. It gets a newline only if lines have labels."""
        if self.partial and self.label:
            self.partial.append(b"\n")
        self.show()
