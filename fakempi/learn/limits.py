"""What a student's program may take, and how the process that runs it is held to it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

FILE_BYTES = 16 * 2**20
"""A program that fills the disk is stopped here."""

READY = "ready"
"""What a worker says first, with the CPU seconds that it took to start: from then on its time counts."""

MOST_BUSY = 10.0
"""A machine on which everything takes longer than so many times its CPU time is not waited for."""


@dataclass(frozen=True)
class Limits:
    """Seconds for one check, all its runs together, on a machine that has nothing else to do, and MiB of memory."""

    seconds: float = 10.0
    megabytes: int = 4096  # of addresses: on threads each of 256 ranks takes 8 of them

    def on_this_machine(self, wall: float, cpu: float) -> Limits:
        """The same where others work, too: there a start took so long, and needed less."""
        busy = min(max(wall / cpu, 1.0), MOST_BUSY) if cpu > 0 else 1.0
        return replace(self, seconds=self.seconds * busy)

    def impose(self) -> None:
        """On this process, from now on: CPU time, memory, and the size of files; seconds are also the parent's to watch."""
        if resource is None:
            return
        cpu = int(self.seconds) + 5  # what it took to start counts, too
        wanted = (
            ("RLIMIT_CPU", cpu), ("RLIMIT_AS", self.megabytes * 2**20), ("RLIMIT_FSIZE", FILE_BYTES), ("RLIMIT_CORE", 0),
        )  # fmt: skip
        for name, most in wanted:
            kind = getattr(resource, name, None)
            if kind is not None:
                _, hard = resource.getrlimit(kind)
                most = most if hard == resource.RLIM_INFINITY else min(most, hard)
                try:
                    resource.setrlimit(kind, (most, most))
                except (OSError, ValueError):  # macOS refuses some of them
                    continue


def missing() -> str:
    """A sentence where memory cannot be limited, else nothing."""
    if resource is not None and sys.platform != "darwin":  # which has the call, and does not keep to it
        return ""
    return "This system cannot limit the memory of a process: only the time of students' programs is limited."
