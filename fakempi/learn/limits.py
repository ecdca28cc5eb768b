"""What a student's program may take, and how the process that runs it is held to it."""

from __future__ import annotations

import sys
from dataclasses import dataclass

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

FILE_BYTES = 16 * 2**20
"""A program that fills the disk is stopped here."""


@dataclass(frozen=True)
class Limits:
    """Seconds for one check, all its runs together, and MiB of memory."""

    seconds: float = 20.0
    megabytes: int = 2048

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
