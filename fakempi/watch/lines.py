"""Where it is shown how far a run is: one line on a terminal that is written over, or a line now and then elsewhere."""

from __future__ import annotations

import shutil
import sys
import threading
from typing import Any

from fakempi.errors import printable

ALWAYS = "always"


class LiveLine:
    """One line on a terminal that is written over, and gives way to what the program writes."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.lock = threading.RLock()  # a program may write while it writes, in a signal's handler for instance
        self.begun: set[str] = set()  # streams on which the program has begun a line and not ended it
        self.shown = self.asked = False
        self.text = ""
        self.streams: dict[str, tuple[Any, Any]] = {}  # what is in their place, and what was

    def pause(self, elapsed: float) -> float:
        """Seconds to the next look: who is done in a second needs no line."""
        return 0.2 if elapsed >= 1 else 1 - elapsed

    def open(self) -> None:
        """Be below what the program writes, and leave its questions alone."""
        from fakempi.script.output import Input  # if needed: every run imports this module, and that one takes long

        names = [name for name in ("stdout", "stderr") if _on_terminal(getattr(sys, name))]
        above = {name: Above(getattr(sys, name), self, name) for name in names}
        asking = {"stdin": Input(sys.stdin, self.ask)} if _on_terminal(sys.stdin) else {}
        for name, stream in {**above, **asking}.items():
            self.streams[name] = stream, getattr(sys, name)
            setattr(sys, name, stream)

    def close(self) -> None:
        """Be gone, with everything as it was."""
        self.clear()
        while self.streams:
            name, (stream, before) = self.streams.popitem()
            if getattr(sys, name) is stream:  # else the program has put another in its place
                setattr(sys, name, before)

    def show(self, text: str) -> None:
        """Write over what was there. But if the program has begun a line, or has asked something, wait until it goes on."""
        with self.lock:
            if self.begun:
                return
            if self.asked and self.text in ("", text):
                self.text = text
                return
            self.asked = False
            width = shutil.get_terminal_size().columns - 1
            self.stream.write(f"\r\x1b[2K{printable(text)[:width]}")
            self.stream.flush()
            self.shown = True

    def clear(self) -> None:
        """Make room."""
        with self.lock:
            if self.shown:
                self.stream.write("\r\x1b[2K")
                self.stream.flush()
                self.shown = False

    def write(self, stream: Any, name: str, text: str) -> int:
        """Make room for what the program writes on a stream of that name."""
        with self.lock:
            self.clear()
            if text:
                (self.begun.discard if text.endswith("\n") else self.begun.add)(name)
            return int(stream.write(text))

    def ask(self) -> None:
        """Make room for a question, and for its answer, which ends the line."""
        with self.lock:
            self.clear()
            self.begun.clear()
            self.asked, self.text = True, ""


class Above:
    """A stream on a terminal that has a live line below."""

    def __init__(self, stream: Any, line: LiveLine, name: str = "stdout") -> None:
        self._stream, self._line, self._name = stream, line, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write in place of the live line."""
        return self._line.write(self._stream, self._name, text)


class PlainLines:
    """A line now and then, less and less often: after 1, 2, 4 ... seconds, and then every minute."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def pause(self, elapsed: float) -> float:
        """Seconds to the next look."""
        at = 1.0
        while at <= elapsed:
            at = at * 2 if at < 60 else at + 60
        return at - elapsed

    def open(self) -> None:
        """Nothing gives way to these."""

    def close(self) -> None:
        """They stay."""

    def show(self, text: str) -> None:
        """One more line."""
        self.stream.write(f"fakempi: {printable(text)}\n")
        self.stream.flush()


def line_for(progress: bool | str, stream: Any) -> LiveLine | PlainLines | None:
    """What shows on a stream how far a run is, if anything does."""
    if progress and _on_terminal(stream):
        return LiveLine(stream)
    return PlainLines(stream) if progress == ALWAYS and stream is not None else None


def _on_terminal(stream: Any) -> bool:
    return hasattr(stream, "isatty") and bool(stream.isatty())
