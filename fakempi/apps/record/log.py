"""The file of one rank: lines are kept for at most half a second, and written in one piece."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from sys import _getframe
from time import perf_counter_ns
from types import CodeType

FIRST_LINE = "fakempi recording 1"

KEPT_LINES = 2000
KEPT_NS = 500_000_000
"""Lines are written when there are this many, or when the oldest is this old at the end of a call."""

POLL_NS = 20_000
"""Computing time between two unsuccessful tests or probes below this is that of a polling loop: the rank was waiting."""


class RankFile:
    """Appends the events of this rank to its file; `last` is the time at which the program continued after the last call."""

    def __init__(self, path: str, header: Mapping[str, object], clock: Callable[[], int] = perf_counter_ns) -> None:
        self.now = clock
        self._file: int | None = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        self._lines = [FIRST_LINE, json.dumps(header)]
        self._sites: dict[tuple[int, int], int] = {}
        self._codes: list[CodeType] = []  # referenced, so that no other code object has the same id
        self._last_skip: tuple[int, int, int] | None = None
        self.names: dict[str, int] = {}
        self.flush()
        self.last = self.now()

    def site(self, depth: int) -> int:
        """Return the number of the line that calls the wrapper; the frame is `depth` above the caller of this method."""
        frame = _getframe(depth + 1)
        key = id(frame.f_code), frame.f_lasti
        number = self._sites.get(key)
        if number is None:
            self._codes.append(frame.f_code)
            text = f"{_short(frame.f_code.co_filename)}:{frame.f_lineno}"
            number = self.names.get(text)
            if number is None:
                number = self.names[text] = len(self.names) + 1
                self._lines.append(f"site {number} {text}")
            self._sites[key] = number
        return number

    def define(self, line: str) -> None:
        """Append a line that is no event."""
        self._lines.append(line)

    def event(self, kind: str, start: int, end: int, site: int, rest: str) -> None:
        """Append an event: a call from `start` to `end`."""
        self._lines.append(f"{kind} {start - self.last} {end - start} {site} {rest}")
        self._last_skip = None
        if len(self._lines) > KEPT_LINES or end > self._due:
            self.flush()
        self.last = self.now()

    def skip(self, start: int, end: int, site: int) -> None:
        """Append the time of a call that has no effect; a polling loop becomes one line."""
        gap, before = start - self.last, self._last_skip
        if before is not None and site == before[2] and gap < POLL_NS:
            self._lines.pop()
            gap, start = before[0], before[1]
        self._lines.append(f"skip {gap} {end - start} {site}")
        if end > self._due:
            self.flush()
            self._last_skip = None  # written
        else:
            self._last_skip = gap, start, site
        self.last = self.now()

    def flush(self) -> None:
        """Write all lines to the file."""
        if self._file is not None and self._lines:
            data = memoryview(("\n".join(self._lines) + "\n").encode(errors="backslashreplace"))
            while data:
                data = data[os.write(self._file, data) :]
        self._lines.clear()
        self._due = self.now() + KEPT_NS

    def end(self, how: str) -> None:
        """Write the last line, and close the file."""
        if self._file is not None:
            self._lines.append(f"end {self.now() - self.last} {how}")
            self.flush()
            self.forget()

    def forget(self) -> None:
        """Write nothing more: the log belongs to another process (after a fork), or it has ended."""
        if self._file is not None:
            os.close(self._file)
        self._file = None
        self._lines.clear()


def _short(path: str) -> str:
    """Return the path relative to the working directory, or from the package directory on; without blanks."""
    here = os.getcwd() + os.sep
    if path.startswith(here):
        path = path[len(here) :]
    else:
        path = path.rpartition("-packages/")[2]
    return path.replace(" ", "_").replace("\n", "_")
