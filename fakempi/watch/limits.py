"""Limits that come and go while a run goes on: of parts of it, such as the tests that its ranks are in."""

from __future__ import annotations

from typing import Any

from fakempi.mpi.base.current import here
from fakempi.mpi.base.process import Universe
from fakempi.threads.raw import monotonic, release
from fakempi.watch.watching import Watch

PAUSE = 0.05
"""Seconds between looks at what has to be done by when."""


class Limits(Watch):
    """Ends the run as soon as one of them is over. It is entered and left in the run itself, by whichever rank."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe, None, False)
        self.limits: dict[Any, tuple[float, float, str]] = {}  # by whoever has one: when it is over, of how long, what

    def set(self, who: Any, seconds: float, left: float, what: str) -> None:
        """Somebody has a limit now, of which so much is left; `what` is to be done by then."""
        self.limits[who] = monotonic() + left, seconds, what

    def lift(self, who: Any) -> None:
        """It is done."""
        self.limits.pop(who, None)

    def _look(self) -> None:
        here.loop = self.universe.loop  # it is part of the run
        try:
            while not self.over.wait(PAUSE):
                end, self.timeout, self.what = min(list(self.limits.values()), default=(float("inf"), 0, ""))
                if monotonic() >= end:
                    return self._end()
        finally:
            release(self.looks)
