"""The limit of open files: the parent has several for each child."""

from __future__ import annotations

import os
from contextlib import suppress

from fakempi.errors import MPIError
from fakempi.errors.classes import ERR_OTHER

with suppress(ImportError):  # Windows, where ranks cannot be processes
    import resource

PER_CHILD = 10
"""Open files of the parent for each child: pipes for messages, output, end and status, shared memory."""


def raise_limit(children: int) -> int:
    """Raise the soft limit of open files for a number of further children; returns the previous limit.

    Raises
    ------
    MPIError : the hard limit is too low
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _open_files() + PER_CHILD * children + 64
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return soft
    if hard != resource.RLIM_INFINITY and needed > hard:
        problem = f"ranks as processes: {children} ranks need {needed} open files, but the limit of this process is {hard}"
        raise MPIError(ERR_OTHER, f"{problem}; raise it with 'ulimit -Hn', or run without --processes.")
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    return soft


def restore_limit(soft: int) -> None:
    """Restore the soft limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _open_files() -> int:
    try:
        return len(os.listdir("/dev/fd"))
    except OSError:
        return 64
