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


class Cursor:
    """The end of a stream that several ranks write to: which of them has shown part of a line there, if any."""

    owner: Lines | None = None


class Lines:
    """Passes on the lines of a rank once they are complete.

    `label` is the prefix of each line. Bytes after the last newline are kept until their line is complete, the program
    flushes them and the stream is a terminal, or the rank ends.
    """

    def __init__(self, write: Callable[[bytes], Any], label: str = "", cursor: Cursor | None = None) -> None:
        self.write, self.label, self.cursor = write, label.encode(), cursor or Cursor()
        self.partial: list[bytes] = []

    def add(self, data: bytes) -> None:
        """Write complete lines, keep the rest."""
        head, newline, tail = data.rpartition(b"\n")
        if newline:
            if self.partial:
                head = b"".join(self.partial) + head
                self.partial.clear()
            self.write(self._beginning() + head.replace(b"\n", b"\n" + self.label) + newline)
        if tail:
            self.partial.append(tail)

    def show(self) -> None:
        """Write the incomplete line at once: it may be a question to the user."""
        if self.partial:
            data = self._beginning() + b"".join(self.partial)
            self.partial.clear()
            self.write(data)

    def show_flushed(self, sink: Sink) -> None:
        """Write the incomplete line, which the program has flushed, if the stream is a terminal.

        Text of another rank begins on a new line then, unless a carriage return makes this one a display that is
        overwritten later. Such a display is not shown with a label, which the next text would overwrite.
        """
        if not self.partial or not sink.is_terminal():
            return
        if not any(b"\r" in part for part in self.partial):
            self.show()
            self.cursor.owner = self
        elif not self.label:
            self.show()

    def _beginning(self) -> bytes:
        """Return what precedes the next text: nothing if it continues a line that is shown, else the label."""
        owner, self.cursor.owner = self.cursor.owner, None
        return b"" if owner is self else (self.label if owner is None else b"\n" + self.label)

    def finish(self) -> None:
        """Write the incomplete last line of a rank that has ended. It gets a newline only if lines have labels."""
        if self.label and (self.partial or self.cursor.owner is self):
            self.partial.append(b"\n")
        self.show()
