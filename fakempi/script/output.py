"""Streams that ranks share: whole lines of text from each, and standard input for one of them."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from typing import Any

from fakempi.script.place import Place


class Lines(io.TextIOBase):
    """A stream that passes on whole lines, so that ranks which take turns do not write into each other's.

    What a rank has written since its last end of line waits for the rest, or for the rank's end. `who` says whose turn it
    is; with nobody's, text goes through as it is.
    """

    def __init__(self, real: Any, who: Callable[[], Place | None]) -> None:
        super().__init__()
        self.real, self.who = real, who
        self.lock = threading.Lock()  # threads that ranks start write at any time

    def write(self, text: str) -> int:
        """Write text; what is behind the last end of line waits."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        place = self.who()
        with self.lock:
            if place is None:
                self.real.write(text)
            else:
                self._write(place, text)
        return len(text)

    def _write(self, place: Place, text: str) -> None:
        head, newline, tail = text.rpartition("\n")
        waiting = place.lines.get(id(self))
        if newline:
            if waiting:
                head = "".join(waiting) + head
                waiting.clear()
            if place.label:
                head = place.label + head.replace("\n", "\n" + place.label)
            self.real.write(head + "\n")
        if tail:
            if waiting is None:
                waiting = place.lines[id(self)] = []
            waiting.append(tail)

    def finish(self, place: Place) -> None:
        """The rank has ended: so has its last line."""
        waiting = place.lines.pop(id(self), None)
        if waiting:
            self.real.write(f"{place.label}{''.join(waiting)}\n")

    def show(self, place: Place) -> None:
        """A rank is about to ask something: write what it has, though its line has no end."""
        waiting = place.lines.get(id(self))
        if waiting:
            self.real.write(place.label + "".join(waiting))
            waiting.clear()
        self.real.flush()

    def flush(self) -> None:
        """Flush whole lines."""
        self.real.flush()

    def close(self) -> None:
        """Stay open: others write here too."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return bool(self.real.isatty())

    def fileno(self) -> int:
        """The file behind it."""
        return int(self.real.fileno())

    def writable(self) -> bool:
        """It is."""
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """That of the real stream."""
        return getattr(self.real, "encoding", None) or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """That of the real stream."""
        return getattr(self.real, "errors", None)

    @property
    def buffer(self) -> Any:
        """Where to write bytes: they are text here, and lines."""
        return _Bytes(self)

    def reconfigure(self, **options: Any) -> None:
        """Nothing: how text is encoded and when it is flushed is the same for all."""


class _Bytes:
    """The bytes side of a text stream."""

    def __init__(self, lines: Lines) -> None:
        self.lines, self.flush = lines, lines.flush

    def write(self, data: Any) -> int:
        """Write bytes, as text in the stream's encoding."""
        self.lines.write(bytes(data).decode(self.lines.encoding, "replace"))
        return len(data)


class Input:
    """Standard input: the real one for rank 0, which `exit()` must not close for whoever comes after; others have none.

    `before` is called before anything is read: on a terminal, the question has to be seen although its line has no end.
    """

    def __init__(self, real: Any, before: Callable[[], None], who: Callable[[], Place | None] = lambda: None) -> None:
        self._real, self._before, self._who = real, before, who
        self._nothing = io.TextIOWrapper(io.BytesIO())

    def whoever_reads(self) -> Input:
        """The real one for every rank: for a debugger."""
        return Input(self._real, self._before)

    def _own(self) -> Any:
        place = self._who()
        return self._real if place is None or place.number == 0 else self._nothing

    def __getattr__(self, name: str) -> Any:
        if name in ("read", "readline", "readlines", "fileno", "buffer"):  # `input()` asks for the file and reads there
            self._before()
        return getattr(self._own(), name)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self._before()
        return str(next(self._own()))

    def close(self) -> None:
        """Leave it open."""
