"""`fakempi watch`: run a command on a real MPI, and explain a hang."""

from __future__ import annotations

import sys
from argparse import Namespace
from shutil import which

from fakempi.core.options import usage_error


def watch(options: Namespace) -> int:
    """Run the command; returns its exit code, or 124 if it hung."""
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise usage_error("the command is missing, for example: fakempi watch mpiexec -n 4 python work.py")
    if not options.after > 0:
        raise usage_error(f"--after {options.after:g}: the number of seconds must be positive.")
    if sys.platform != "linux":
        raise usage_error("it needs Linux, whose /proc it reads.")
    if which(command[0]) is None:
        raise usage_error(f"there is no program {command[0]!r}.")
    from fakempi.apps.watch.job import WatchOptions
    from fakempi.apps.watch.job import watch as watch_command

    return watch_command(WatchOptions(command, options.after, options.keep, options.report, options.hosts))
