"""Limits of time and memory for a student's program, and their enforcement."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import ceil
from time import process_time

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]  # a module that Windows does not have

FILE_BYTES = 16 * 2**20
"""Upper limit of the size of a file that the program writes."""

OPEN_FILES = 256
"""Upper limit of open files."""

READY = "ready"
"""The first line that a worker prints."""

KERNEL_GRACE = 5
"""CPU seconds after the limit at which the kernel ends a worker that has not ended its run."""

WALL_FACTOR, WALL_GRACE = 20.0, 60.0
"""Wall time after which a worker is killed: far above the CPU time of a check, also on a busy machine."""


@dataclass(frozen=True)
class CheckLimits:
    """CPU seconds for one check with all its runs, and MiB of memory."""

    seconds: float = 10.0
    megabytes: int = 4096  # of address space: with threads, each of 256 ranks takes 8 MiB

    @property
    def wall(self) -> float:
        """Seconds of wall time after which a worker is killed whatever it does."""
        return WALL_FACTOR * self.seconds + WALL_GRACE

    def impose(self) -> None:
        """Limit CPU time, memory and files of this process; the parent process enforces the wall time."""
        if resource is None:
            return
        cpu = ceil(process_time() + self.seconds) + KERNEL_GRACE
        limits = (
            ("RLIMIT_CPU", cpu), ("RLIMIT_AS", self.megabytes * 2**20), ("RLIMIT_FSIZE", FILE_BYTES), ("RLIMIT_CORE", 0),
            ("RLIMIT_NOFILE", OPEN_FILES),
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
