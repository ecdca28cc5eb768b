"""Displays of progress: one line on a terminal, which is overwritten, or periodic lines elsewhere."""

from __future__ import annotations

import shutil
import sys
import threading
from typing import Any

from fakempi.errors import printable

ALWAYS = "always"


class LiveLine:
    """One line on a terminal that is overwritten, and that is removed before the program writes."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.lock = threading.RLock()  # a program may write while it writes, for example in a signal handler
        self.unfinished: set[str] = set()  # streams on which the program has written a part of a line
        self.shown = self.reading = False  # whether the line is on the terminal; whether the program reads its input
        self.text = ""
        self.streams: dict[str, tuple[Any, Any]] = {}  # name -> the stream in `sys`, and the one that it replaces

    def pause(self, elapsed: float) -> float:
        """Return the seconds until the next update. A run of less than a second has no line."""
        return 0.2 if elapsed >= 1 else 1 - elapsed

    def open(self) -> None:
        """Replace the standard streams that are terminals, so that the line stays below the output of the program."""
        from fakempi.isolation.output import StandardInput, replace_stream  # only if needed: every run imports this module

        names = [name for name in ("stdout", "stderr") if _on_terminal(getattr(sys, name))]
        above = {name: StreamAboveLine(getattr(sys, name), self, name) for name in names}
        below = {"stdin": StandardInput(sys.stdin, self.read)} if _on_terminal(sys.stdin) else {}
        for name, stream in {**above, **below}.items():
            self.streams[name] = stream, replace_stream(name, stream)

    def close(self) -> None:
        """Remove the line and restore the streams."""
        from fakempi.isolation.output import replace_stream

        self.clear()
        while self.streams:
            name, (stream, before) = self.streams.popitem()
            if getattr(sys, name) is stream:  # otherwise the program has replaced it
                replace_stream(name, before)

    def show(self, text: str) -> None:
        """Overwrite the line, unless the program has written a part of a line or reads its input."""
        with self.lock:
            if self.unfinished:
                return
            done = text.partition("; ")[0]  # without the time for which a rank has run, which grows while the user types
            if self.reading and self.text in ("", done):
                self.text = done
                return
            self.reading = False  # the run makes progress, so the input was read
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r\x1b[2K{printable(text)[:width]}")
            self.stream.flush()
            self.shown = True

    def clear(self) -> None:
        """Remove the line from the terminal."""
        with self.lock:
            if self.shown:
                self.stream.write("\r\x1b[2K")
                self.stream.flush()
                self.shown = False

    def write(self, stream: Any, name: str, data: Any, complete: bool) -> int:
        """Remove the line, and write data of the program; `complete` if they end a line of the stream of that name."""
        with self.lock:
            self.clear()
            if data:
                (self.unfinished.discard if complete else self.unfinished.add)(name)
            return int(stream.write(data))

    def read(self) -> None:
        """Remove the line while the user types a line of input, which also ends the program's own line."""
        with self.lock:
            self.clear()
            self.unfinished.clear()
            self.reading, self.text = True, ""


class StreamAboveLine:
    """A stream on a terminal with a live line below."""

    def __init__(self, stream: Any, line: LiveLine, name: str = "stdout") -> None:
        self._stream, self._line, self._name = stream, line, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write text; the live line is removed first."""
        return self._line.write(self._stream, self._name, text, text.endswith("\n"))

    @property
    def buffer(self) -> BytesAboveLine:
        """The bytes below the text."""
        return BytesAboveLine(self._stream, self._line, self._name)


class BytesAboveLine:
    """The bytes of a stream on a terminal with a live line below."""

    def __init__(self, stream: Any, line: LiveLine, name: str) -> None:
        self._buffer, self._line, self._name = stream.buffer, line, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._buffer, name)

    def write(self, data: Any) -> int:
        """Write bytes; the live line is removed first."""
        return self._line.write(self._buffer, self._name, data, bytes(data[-1:]) == b"\n")


class PlainLines:
    """One line after 1, 2, 4 ... seconds, and then every minute."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def pause(self, elapsed: float) -> float:
        """Return the seconds until the next line."""
        at = 1.0
        while at <= elapsed:
            at = at * 2 if at < 60 else at + 60
        return at - elapsed

    def open(self) -> None:
        """Do nothing: the program's streams are unchanged."""

    def close(self) -> None:
        """Do nothing: the lines stay."""

    def show(self, text: str) -> None:
        """Write one more line."""
        self.stream.write(f"fakempi: {printable(text)}\n")
        self.stream.flush()


def display_for(progress: bool | str, stream: Any) -> LiveLine | PlainLines | None:
    """Return the display of progress on a stream; None if there is none."""
    if progress and _on_terminal(stream):
        return LiveLine(stream)
    return PlainLines(stream) if progress == ALWAYS and stream is not None else None


def _on_terminal(stream: Any) -> bool:
    return hasattr(stream, "isatty") and bool(stream.isatty())
