"""CallLog: the lines of one rank, with computing times and durations; a polling loop becomes one line."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Protocol


class CallLog(Protocol):
    """Collects the lines of a rank. Subclasses have a clock, call sites, and a place where the lines go.

    `last` is the time at which the program continued after the last call.
    """

    now: Callable[[], float]
    """Returns the time."""

    last: float
    poll_time: float
    """Computing time between two unsuccessful tests or probes below this is that of a polling loop: the rank was waiting."""

    _lines: list[str]
    _last_skip: tuple[float, float, int] | None

    def site(self, depth: int) -> int:
        """Return the number of the call site; the program's frame is `depth` above the caller of this method."""

    def keep(self, end: float) -> bool:
        """Return whether lines stay in memory at the end of a call; otherwise they have been written."""

    def end(self, how: str) -> None:
        """Add the last line."""

    def define(self, line: str) -> None:
        """Append a line that is no event."""
        self._lines.append(line)

    def events(self, start: float, end: float, site: int, lines: Iterable[tuple[str, str]]) -> None:
        """Append the events of a call from `start` to `end`, each a kind and the words that follow the times."""
        gap, duration = start - self.last, end - start
        for kind, rest in lines:
            self._lines.append(f"{kind} {gap} {duration} {site} {rest}")
            gap = duration = 0
        self._last_skip = None
        self.keep(end)
        self.last = self.now()

    def skip(self, start: float, end: float, site: int) -> None:
        """Append the time of a call that has no effect in a replay."""
        gap, before = start - self.last, self._last_skip
        if before is not None and site == before[2] and gap < self.poll_time:
            self._lines.pop()
            gap, start = before[0], before[1]
        self._lines.append(f"skip {gap} {end - start} {site}")
        self._last_skip = (gap, start, site) if self.keep(end) else None
        self.last = self.now()


def short(path: str) -> str:
    """Return the path relative to the working directory, or from the package directory on; without blanks."""
    here = os.getcwd() + os.sep
    if path.startswith(here):
        path = path[len(here) :]
    else:
        path = path.rpartition("-packages/")[2]
    return path.replace(" ", "_").replace("\n", "_")
