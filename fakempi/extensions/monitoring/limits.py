"""Time limits of parts of a run, such as the tests that its ranks execute."""

from __future__ import annotations

from typing import Any

from fakempi.extensions.monitoring.monitor import Monitor
from fakempi.extensions.threads.raw import monotonic, release
from fakempi.mpi.base.current import os_thread
from fakempi.mpi.base.process import Universe

PAUSE = 0.05
"""Seconds between two checks of the limits."""


class RunLimits(Monitor):
    """Ends the run when one of its limits is exceeded. A context manager, which any rank may enter during the run."""

    def __init__(self, universe: Universe) -> None:
        super().__init__(universe, None, False)
        self.limits: dict[Any, tuple[float, float, str]] = {}  # owner -> end of the limit, its length, the limited part

    def set(self, owner: Any, seconds: float, remaining: float, part: str) -> None:
        """Set the owner's limit: this part of the run has `remaining` seconds of `seconds` left."""
        self.limits[owner] = monotonic() + remaining, seconds, part

    def lift(self, owner: Any) -> None:
        """Remove the owner's limit."""
        self.limits.pop(owner, None)

    def _observe(self) -> None:
        os_thread.loop = self.universe.loop  # this thread is part of the run
        try:
            while not self.ended.wait(PAUSE):
                end, self.timeout, self.part = min(list(self.limits.values()), default=(float("inf"), 0, ""))
                if monotonic() >= end or self.error is not None:  # the latter: `interrupt` was called
                    return self._end()
        finally:
            release(self.observing)
