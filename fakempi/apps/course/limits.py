"""Limits of time and memory for a student's program, and their enforcement."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # a module that Windows does not have

FILE_BYTES = 16 * 2**20
"""Upper limit of the size of a file that the program writes."""

READY = "ready"
"""The first line that a worker prints, with the CPU seconds of its start; its time limit begins at that moment."""

MAX_BUSY = 10.0
"""On a busy machine, time limits are extended by at most this factor."""


@dataclass(frozen=True)
class CheckLimits:
    """Seconds for one check with all its runs, on an idle machine, and MiB of memory."""

    seconds: float = 10.0
    megabytes: int = 4096  # of address space: with threads, each of 256 ranks takes 8 MiB

    def on_this_machine(self, wall: float, cpu: float) -> CheckLimits:
        """Return limits extended by the load of this machine: the ratio of wall time to CPU time of the worker's start."""
        busy = min(max(wall / cpu, 1.0), MAX_BUSY) if cpu > 0 else 1.0
        return replace(self, seconds=self.seconds * busy)

    def impose(self) -> None:
        """Limit CPU time, memory and file size of this process; the parent process enforces the seconds of wall time."""
        if resource is None:
            return
        cpu = int(self.seconds) + 5  # includes the start of the process
        limits = (
            ("RLIMIT_CPU", cpu), ("RLIMIT_AS", self.megabytes * 2**20), ("RLIMIT_FSIZE", FILE_BYTES), ("RLIMIT_CORE", 0),
        )  # fmt: skip
        for name, limit in limits:
            kind = getattr(resource, name, None)
            if kind is not None:
                _, hard = resource.getrlimit(kind)
                limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
                try:
                    resource.setrlimit(kind, (limit, limit))
                except (OSError, ValueError):  # macOS rejects some limits
                    continue


def missing() -> str:
    """Return a warning if this system cannot limit memory, else an empty string."""
    if resource is not None and sys.platform != "darwin":  # macOS accepts the limit of memory but does not enforce it
        return ""
    return "This system cannot limit the memory of a process: only the time of students' programs is limited."
