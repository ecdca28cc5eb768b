"""Standard streams of ranks: output in whole lines, standard input for rank 0."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from fakempi.isolation.rank_state import RankState


def replace_stream(name: str, stream: Any) -> Any:
    """Replace a standard stream of this Python process (`stdin`, `stdout`, `stderr`); return the previous stream."""
    before = getattr(sys, name)
    setattr(sys, name, stream)
    return before


class LineStream(io.TextIOBase):
    """A text stream that writes whole lines, so that lines of different ranks are not mixed.

    Text after the last newline of a rank is buffered until its line is complete or the rank ends. Text written outside
    ranks, where `running_state` returns None, is not buffered.
    """

    def __init__(self, real: Any, running_state: Callable[[], RankState | None]) -> None:
        super().__init__()
        self.real, self.running_state = real, running_state
        self.lock = threading.Lock()  # threads that ranks start may write at any time

    def write(self, text: str) -> int:
        """Write complete lines; buffer text after the last newline."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        state = self.running_state()
        with self.lock:
            if state is None:
                self.real.write(text)
            else:
                self._write(state, text)
        return len(text)

    def _write(self, state: RankState, text: str) -> None:
        head, newline, tail = text.rpartition("\n")
        pending = state.partial_lines.get(id(self))
        if newline:
            if pending:
                head = "".join(pending) + head
                pending.clear()
            if state.label:
                head = state.label + head.replace("\n", "\n" + state.label)
            self.real.write(head + "\n")
        if tail:
            if pending is None:
                pending = state.partial_lines[id(self)] = []
            pending.append(tail)

    def finish(self, state: RankState) -> None:
        """Write the incomplete last line of a rank that has ended."""
        pending = state.partial_lines.pop(id(self), None)
        if pending:
            self.real.write(f"{state.label}{''.join(pending)}\n")

    def show(self, state: RankState) -> None:
        """Write the incomplete line of a rank that is about to read input."""
        pending = state.partial_lines.get(id(self))
        if pending:
            self.real.write(state.label + "".join(pending))
            pending.clear()
        self.real.flush()

    def flush(self) -> None:
        """Flush the real stream."""
        self.real.flush()

    def close(self) -> None:
        """Do nothing: other ranks still write to the stream."""

    def isatty(self) -> bool:
        """Return whether the real stream is a terminal."""
        return bool(self.real.isatty())

    def fileno(self) -> int:
        """Return the file descriptor of the real stream."""
        return int(self.real.fileno())

    def writable(self) -> bool:
        """Return True."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a property here, an attribute in TextIO
        """The encoding of the real stream."""
        return getattr(self.real, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]  # a property here, an attribute in TextIO
        """The error handler of the real stream."""
        return getattr(self.real, "errors", None)

    @property
    def buffer(self) -> Any:
        """A byte stream whose data are decoded and written as lines."""
        return _ByteStream(self)

    def reconfigure(self, **options: Any) -> None:
        """Do nothing: encoding and buffering are the same for all ranks."""


class _ByteStream:
    """A byte stream that decodes into a `LineStream`."""

    def __init__(self, lines: LineStream) -> None:
        self.lines, self.flush = lines, lines.flush

    def write(self, data: Any) -> int:
        """Write bytes, decoded with the encoding of the stream."""
        self.lines.write(bytes(data).decode(self.lines.encoding, "replace"))
        return len(data)


class StandardInput:
    """Standard input: the real one for rank 0, empty for other ranks.

    `exit()` calls `close`, which must not close the real one.
    `before` is called before each read, to write the prompt although its line is incomplete.
    """

    def __init__(
        self, real: Any, before: Callable[[], None], running_state: Callable[[], RankState | None] = lambda: None
    ) -> None:
        self._real, self._before, self._running_state = real, before, running_state
        self._empty = io.TextIOWrapper(io.BytesIO())

    def for_any_rank(self) -> StandardInput:
        """Return an input that every rank can read, for a debugger."""
        return StandardInput(self._real, self._before)

    def _stream(self) -> Any:
        state = self._running_state()
        return self._real if state is None or state.number == 0 else self._empty

    def __getattr__(self, name: str) -> Any:
        if name in ("read", "readline", "readlines", "fileno", "buffer"):  # `input()` reads from the file descriptor
            self._before()
        return getattr(self._stream(), name)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self._before()
        return str(next(self._stream()))

    def close(self) -> None:
        """Do nothing."""
