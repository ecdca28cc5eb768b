"""Limits of a student's program in the worker process: it computes, and writes files in its temporary directory.

audit     Python's audit hook: rejects calls of other kinds, on every system
landlock  Linux: the kernel rejects changes of files elsewhere, and reads of hidden files
syscalls  Linux: the kernel rejects processes, programs, signals and sockets

The three overlap on purpose. The audit hook gives a clear exception, but code that is not Python passes it; the kernel's
limits hold for all code, but not every system has them. A program shares the process with the emulator, so it can still
disturb its own check: it harms nothing but its own grade.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fakempi.apps.course.sandbox import landlock, syscalls
from fakempi.apps.course.sandbox.audit import install


def confine(directory: Path, hidden: Sequence[Path]) -> None:
    """Confine this process until it ends: it writes only in `directory`, and does not read files in `hidden`."""
    directory, hidden = directory.resolve(), [path.resolve() for path in hidden]
    if landlock.version() > 0:
        landlock.confine(directory, hidden)
    syscalls.confine()
    install(directory, hidden)
