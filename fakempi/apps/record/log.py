"""The file of one rank: lines are kept for at most half a second, and written in one piece."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from sys import _getframe
from time import perf_counter_ns
from types import CodeType

from fakempi.extensions.recorder.lines import CallLog, short

FIRST_LINE = "fakempi recording 1"

KEPT_LINES = 2000
KEPT_NS = 500_000_000
"""Lines are written when there are this many, or when the oldest is this old at the end of a call."""


class RankFile(CallLog):
    """Appends the lines of this rank to its file. Times are nanoseconds."""

    poll_time = 20_000

    def __init__(self, path: str, header: Mapping[str, object], clock: Callable[[], int] = perf_counter_ns) -> None:
        self.now = clock
        self._file: int | None = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        self._lines = [FIRST_LINE, json.dumps(header)]
        self._sites: dict[tuple[int, int], int] = {}
        self._codes: list[CodeType] = []  # referenced, so that no other code object has the same id
        self._last_skip: tuple[float, float, int] | None = None
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
            text = f"{short(frame.f_code.co_filename)}:{frame.f_lineno}"
            number = self.names.get(text)
            if number is None:
                number = self.names[text] = len(self.names) + 1
                self._lines.append(f"site {number} {text}")
            self._sites[key] = number
        return number

    def keep(self, end: float) -> bool:
        """Write the lines if there are many, or if the oldest is half a second old; otherwise return True."""
        if len(self._lines) > KEPT_LINES or end > self._due:
            self.flush()
            return False
        return True

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
